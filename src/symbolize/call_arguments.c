/* SPDX-License-Identifier: MIT */
/* A function is looked up once, also if nothing is found. */
#define _GNU_SOURCE
#include "symbolize/call_arguments.h"

#include "symbolize/dwarf/dwarf_arguments.h"
#include "symbolize/function_names.h"
#include "trace/detail_numbers.h"
#include "trace/modules.h"

#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_AT_FIRST 64

struct call_arguments_file {
    struct call_arguments_file *next;
    const struct recorded_module *module; /* the first one that wanted it */
    struct dwarf_arguments *dwarf;        /* NULL: there is nothing */
};

struct call_arguments_function {
    struct call_arguments_function *next; /* of all */
    struct call_arguments_function *same; /* another one with the same key */
    const struct recorded_module *module;
    uint64_t address;
    bool is_known;
    struct dwarf_function function;
};

int call_arguments_init(struct call_arguments *arguments, struct function_names *names)
{
    *arguments = (struct call_arguments){.names = names};
    return hash_map_init(&arguments->functions, FUNCTIONS_AT_FIRST);
}

void call_arguments_deinit(struct call_arguments *arguments)
{
    while (arguments->all != NULL) {
        struct call_arguments_function *function = arguments->all;

        arguments->all = function->next;
        free(function);
    }
    while (arguments->files != NULL) {
        struct call_arguments_file *file = arguments->files;

        arguments->files = file->next;
        dwarf_arguments_close(file->dwarf);
        free(file);
    }
    hash_map_deinit(&arguments->functions);
}

bool call_arguments_may_differ(const char *name, size_t length)
{
    static const char *const marks[] = {".isra", ".constprop", ".part", ".cold"};

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (memmem(name, length, marks[i], strlen(marks[i])) != NULL)
            return true;
    return false;
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

static bool is_same_file(const struct recorded_module *left, const struct recorded_module *right)
{
    return left == right || (strcmp(left->path, right->path) == 0 && left->build_id_bytes == right->build_id_bytes &&
                             memcmp(left->build_id, right->build_id, sizeof(left->build_id)) == 0);
}

/* NULL: nothing is known of it. */
static struct dwarf_arguments *get_file(struct call_arguments *arguments, const struct recorded_module *module)
{
    struct call_arguments_file *file = arguments->files;

    while (file != NULL && !is_same_file(file->module, module))
        file = file->next;
    if (file != NULL)
        return file->dwarf;
    file = calloc(1, sizeof(*file));
    if (file == NULL)
        return NULL;
    file->module = module;
    if (dwarf_arguments_open(function_names_path(arguments->names, module), &file->dwarf) != 0)
        file->dwarf = NULL;
    file->next = arguments->files;
    arguments->files = file;
    return file->dwarf;
}

static bool look_up(struct call_arguments *arguments, struct call_arguments_function *function)
{
    size_t length;
    const char *name = function_names_symbol(arguments->names, function->module, function->address, &length);
    struct dwarf_arguments *file;
    uint64_t place;

    if (function_names_place(arguments->names, function->module, function->address, &place) != 0 ||
        (name != NULL && call_arguments_may_differ(name, length)))
        return false;
    file = get_file(arguments, function->module);
    return file != NULL && dwarf_arguments_find(file, place, &function->function) == 0;
}

static struct call_arguments_function *add(struct call_arguments *arguments, const struct recorded_module *module,
                                           uint64_t address, uint64_t key)
{
    struct call_arguments_function *function = calloc(1, sizeof(*function));
    uint64_t before = 0;

    if (function == NULL)
        return NULL;
    (void)hash_map_lookup(&arguments->functions, key, &before);
    function->module = module;
    function->address = address;
    function->same = (struct call_arguments_function *)(uintptr_t)before;
    function->is_known = look_up(arguments, function);
    function->next = arguments->all;
    arguments->all = function;
    /* Without memory for it, it is looked up again. */
    (void)!hash_map_set(&arguments->functions, key, (uintptr_t)function);
    /* Nobody else looks. */
    hash_map_reclaim(&arguments->functions);
    return function;
}

/* NULL: nothing is known. */
static const struct dwarf_function *find(struct call_arguments *arguments, const struct recorded_module *module,
                                         uint64_t address)
{
    uint64_t key = address ^ (uint64_t)(uintptr_t)module << 16 ^ 1, value = 0;
    struct call_arguments_function *function;

    if (module == NULL)
        return NULL;
    (void)hash_map_lookup(&arguments->functions, key, &value);
    function = (struct call_arguments_function *)(uintptr_t)value;
    while (function != NULL && (function->module != module || function->address != address))
        function = function->same;
    if (function == NULL)
        function = add(arguments, module, address, key);
    return function == NULL || !function->is_known ? NULL : &function->function;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static const char *name_of(const void *context, unsigned which)
{
    const struct dwarf_function *function = context;

    return which < function->declaration.count ? function->arguments[which].name : NULL;
}

static const char *value_of(const void *context, unsigned which, int64_t value)
{
    const struct dwarf_function *function = context;

    if (which == DETAIL_RESULT)
        return dwarf_enumerator_find(&function->result, value);
    return which < function->declaration.count ? dwarf_enumerator_find(&function->arguments[which], value) : NULL;
}

static struct detail_naming naming_of(const struct dwarf_function *function)
{
    return (struct detail_naming){name_of, value_of, function->declaration.is_partial, function};
}

void call_arguments_put(struct call_arguments *arguments, const struct recorded_module *module,
                        const struct detail_enter *enter, const uint8_t *stack, struct detail_values values,
                        struct detail_text *text)
{
    const struct dwarf_function *function = find(arguments, module, enter->record.function);
    uint8_t bytes[DETAIL_NUMBERS_BYTES];
    struct detail_naming naming;

    if (function == NULL) {
        detail_text_put_arguments(text, values, NULL);
        return;
    }
    naming = naming_of(function);
    if (values.size_bytes == 0)
        values = detail_numbers_arguments(&function->declaration, enter, stack, bytes);
    detail_text_put_arguments(text, values, &naming);
}

void call_arguments_put_result(struct call_arguments *arguments, const struct recorded_module *module,
                               const struct detail_leave *leave, struct detail_values values, struct detail_text *text)
{
    const struct dwarf_function *function = find(arguments, module, leave->record.function);
    uint8_t bytes[DETAIL_NUMBERS_BYTES];
    struct detail_naming naming;

    if (function == NULL) {
        detail_text_put_result(text, values, NULL);
        return;
    }
    naming = naming_of(function);
    if (values.size_bytes == 0)
        values = detail_numbers_result(&function->declaration, leave, bytes);
    detail_text_put_result(text, values, &naming);
}
