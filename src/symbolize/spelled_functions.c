/* SPDX-License-Identifier: MIT */
/*
 * Names need symbol tables only. Which function an address is in is known by the list of all functions, which those
 * without a name are in as well; it is made when it is asked for, since the unwind tables have to be read for it.
 */
#include "symbolize/spelled_functions.h"

#include "hosted/growing_array.h"
#include "symbolize/demangle.h"
#include "symbolize/module_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int spelled_file_open(struct spelled_file *file, const char *path)
{
    const char *folders = getenv("GAIT_DEBUG_PATH");
    int result;

    *file = (struct spelled_file){.path = path};
    result = symbol_file_open_loaded(path, &file->file);
    if (result != 0)
        return result;
    file->symbols = &file->file.symbols;
    if (debug_file_open(file->symbols, folders == NULL ? DEBUG_FILE_FOLDERS : folders, &file->debug) == 0)
        file->names = &file->debug.symbols;
    return 0;
}

void spelled_file_borrow(struct spelled_file *file, const char *path, const struct elf_symbols *symbols,
                         const struct elf_symbols *names)
{
    *file = (struct spelled_file){.path = path, .symbols = symbols, .names = names};
}

void spelled_file_close(struct spelled_file *file)
{
    free(file->functions.functions);
    if (file->names == &file->debug.symbols)
        debug_file_close(&file->debug);
    if (file->symbols == &file->file.symbols)
        symbol_file_close(&file->file);
    *file = (struct spelled_file){.path = NULL};
}

void spelled_list_deinit(struct spelled_list *list)
{
    free(list->ones);
    *list = (struct spelled_list){.count = 0};
}

static int add(struct spelled_list *list, const struct spelled_one *one)
{
    if (ARRAY_RESERVE(list->ones, list->capacity, list->count + 1) != 0)
        return -ENOMEM;
    list->ones[list->count++] = *one;
    return 0;
}

/* ---- all functions ----------------------------------------------------------------------------------------------- */

static int list_functions(struct spelled_file *file)
{
    struct elf_function_list *list = &file->functions;
    const struct elf_symbols *symbols = file->symbols;

    if (file->has_functions)
        return 0;
    if (elf_function_list_frame(symbols, &file->frame) != 0)
        file->frame = (struct eh_frame){.bytes = NULL};
    list->capacity = elf_function_list_capacity(symbols, &file->frame) +
                     (size_t)(file->names == NULL ? 0 : elf_symbols_count(file->names));
    list->functions = calloc(list->capacity + 1, sizeof(*list->functions));
    if (list->functions == NULL || elf_function_list_fill(list, symbols, file->names, &file->frame) != 0)
        return -ENOMEM;
    file->has_functions = true;
    return 0;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Assembly may not say that it is a function: then the unwind tables have to. */
static bool is_function(struct spelled_file *file, const struct elf_symbol *symbol)
{
    const struct elf_function *function;

    if (symbol->is_function)
        return symbol->address != 0;
    if (list_functions(file) != 0)
        return false;
    function = elf_function_list_find(&file->functions, symbol->address);
    return function != NULL && function->start == symbol->address && !function->is_label && !function->is_part;
}

static int add_named(struct spelled_file *file, const struct elf_symbols *symbols,
                     const struct function_spelling *spelling, struct spelled_list *list)
{
    uint64_t count = symbols == NULL ? 0 : elf_symbols_count(symbols);
    int result = 0;

    for (uint64_t i = 0; i < count && result == 0; i++) {
        struct elf_symbol symbol;
        bool is_linkers;

        if (elf_symbols_peek(symbols, i, &symbol) != 0 ||
            !function_spelling_has_function(spelling, symbol.name, symbol.name_length, &is_linkers) ||
            !is_function(file, &symbol))
            continue;

        const struct spelled_one one = {
            .start = symbol.address,
            .at = symbol.address,
            .name = symbol.name,
            .name_length = symbol.name_length,
            .is_linkers = is_linkers && symbols == file->symbols,
            .is_resolver = symbol.is_resolver,
        };

        result = add(list, &one);
    }
    return result;
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

/* A name that is no function's, or the seldom used part of one, is passed over. */
static const struct elf_function *find_function(const struct spelled_file *file, uint64_t address)
{
    const struct elf_function *first = file->functions.functions;
    const struct elf_function *function = elf_function_list_find(&file->functions, address);

    while (function != NULL && function > first && (function->is_label || function->is_part))
        function--;
    if (function == NULL || function->is_label || function->is_part ||
        (function->start != address && address - function->start >= function->size_bytes))
        return NULL;
    return function;
}

static int add_address(struct spelled_file *file, uint64_t address, uint32_t line, struct spelled_list *list)
{
    const struct elf_function *function = find_function(file, address);

    if (function == NULL)
        return 0;

    const struct spelled_one one = {
        .start = function->start,
        .at = address,
        .name = function->name,
        .name_length = function->name_length,
        .is_resolver = function->is_resolver,
        .line = line,
    };

    return add(list, &one);
}

/* What reports of files that are gone show is the place in the file, which mostly is the same. */
static uint64_t address_of(const struct elf_symbols *symbols, uint64_t typed)
{
    const uint8_t *code;
    uint64_t available, address;

    if (elf_symbols_code(symbols, typed, &code, &available) != 0 &&
        elf_symbols_address_at(symbols, typed, &address) == 0)
        return address;
    return typed;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

struct line_search {
    const struct function_spelling *spelling;
    struct spelled_list *list;
    bool is_meant; /* the source that is told */
    uint32_t best; /* the first line from the one that is meant on that has code; 0: none */
    uint64_t end;  /* of the code that was told last */
};

static int take_source(void *context, const char *path)
{
    struct line_search *search = context;

    search->is_meant = function_spelling_has_source(search->spelling, path);
    return 0;
}

/* Nearer lines than those so far make these void. Code that goes on is no other place. */
static int take_line(void *context, uint64_t start, uint64_t end, uint32_t line)
{
    struct line_search *search = context;
    const struct spelled_one one = {.start = start, .at = start, .line = line};
    bool goes_on = search->end == start;

    if (!search->is_meant || line < search->spelling->line || (search->best != 0 && line > search->best))
        return 0;
    if (line != search->best) {
        search->best = line;
        search->list->count = 0;
        goes_on = false;
    }
    search->end = end;
    return goes_on ? 0 : add(search->list, &one);
}

int spelled_lines_find(const char *path, const struct function_spelling *spelling, struct spelled_list *list_out)
{
    struct spelled_list list = {.count = 0};
    struct line_search search = {.spelling = spelling, .list = &list};
    const struct module_lines_visitor visitor = {.source = take_source, .line = take_line, .context = &search};
    int result = module_lines_visit(path, &visitor);

    if (result == 0 && list.count == 0)
        result = -ENOENT;
    if (result != 0)
        spelled_list_deinit(&list);
    else
        *list_out = list;
    return result;
}

static int add_lines(struct spelled_file *file, const struct function_spelling *spelling, struct spelled_list *list)
{
    struct spelled_list lines;
    int result = spelled_lines_find(file->path, spelling, &lines);

    if (result != 0)
        return result == -ENOMEM ? result : 0;
    for (size_t i = 0; i < lines.count && result == 0; i++)
        result = add_address(file, lines.ones[i].at, lines.ones[i].line, list);
    spelled_list_deinit(&lines);
    return result;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* Of several names the plainest first. */
static size_t oddness(const struct spelled_one *one)
{
    size_t underscores = 0;

    while (underscores < one->name_length && one->name[underscores] == '_')
        underscores++;
    return underscores * 1024 + one->name_length;
}

static int compare(const void *left_place, const void *right_place)
{
    const struct spelled_one *left = left_place, *right = right_place;
    size_t left_oddness = oddness(left), right_oddness = oddness(right);

    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    return left_oddness < right_oddness ? -1 : left_oddness > right_oddness;
}

/* One has several names, and may be in several tables: it is spelled as linkers do if one of them is. */
static void merge(struct spelled_list *list)
{
    size_t count = 0;

    if (list->count != 0)
        qsort(list->ones, list->count, sizeof(*list->ones), compare);
    for (size_t i = 0; i < list->count; i++) {
        struct spelled_one *last = count == 0 ? NULL : &list->ones[count - 1];

        if (last != NULL && last->start == list->ones[i].start)
            last->is_linkers |= list->ones[i].is_linkers;
        else
            list->ones[count++] = list->ones[i];
    }
    list->count = count;
}

int spelled_functions_find(struct spelled_file *file, const struct function_spelling *spelling,
                           struct spelled_list *list_out)
{
    struct spelled_list list = {.count = 0};
    int result;

    if (spelling->kind == SPELLING_NAME) {
        result = add_named(file, file->symbols, spelling, &list);
        if (result == 0)
            result = add_named(file, file->names, spelling, &list);
    } else {
        result = list_functions(file);
        if (result == 0 && spelling->kind == SPELLING_ADDRESS)
            result = add_address(file, address_of(file->symbols, spelling->address), 0, &list);
        else if (result == 0)
            result = add_lines(file, spelling, &list);
    }
    merge(&list);
    if (result == 0 && list.count == 0)
        result = -ENOENT;
    if (result != 0)
        spelled_list_deinit(&list);
    else
        *list_out = list;
    return result;
}

static void offer_table(const struct elf_symbols *symbols,
                        void (*offer)(void *context, const char *name, size_t length), void *context)
{
    char copy[1024], *plain;
    struct elf_symbol symbol;

    for (uint64_t i = 0; i < elf_symbols_count(symbols); i++) {
        if (elf_symbols_peek(symbols, i, &symbol) != 0 || !symbol.is_function || symbol.name_length >= sizeof(copy))
            continue;
        memcpy(copy, symbol.name, symbol.name_length);
        copy[symbol.name_length] = '\0';
        plain = demangle(copy);
        if (plain == NULL)
            offer(context, copy, symbol.name_length);
        else
            offer(context, plain, function_spelling_bare_length(plain));
        free(plain);
    }
}

void spelled_file_offer(const struct spelled_file *file, void (*offer)(void *context, const char *name, size_t length),
                        void *context)
{
    offer_table(file->symbols, offer, context);
    if (file->names != NULL)
        offer_table(file->names, offer, context);
}
