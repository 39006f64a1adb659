/* SPDX-License-Identifier: MIT */
/* A list of files, each opened once for its path and build ID; the others do the work. */
#include "symbolize/symbolizer.h"

#include "elf/build_id.h"
#include "hosted/growing_array.h"
#include "symbolize/jit_code.h"
#include "symbolize/module_symbols.h"
#include "symbolize/source_lines.h"
#include "trace/modules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES 4096

struct symbolizer_file {
    struct symbolizer_file *next;
    struct module_symbols file;
    struct source_lines lines;
    uint64_t *asked; /* what symbolizer_prepare gathers */
    size_t asked_count;
};

struct symbolizer_process {
    struct symbolizer_process *next;
    struct symbol_process process;
    struct jit_code code;
};

void symbolizer_init(struct symbolizer *symbolizer, const struct symbolizer_options *options)
{
    *symbolizer = (struct symbolizer){.trace = -1};
    if (options != NULL)
        symbolizer->options = *options;
    if (symbolizer->options.debug_folders == NULL)
        symbolizer->options.debug_folders = getenv("GAIT_DEBUG_PATH");
    if (symbolizer->options.debug_folders == NULL)
        symbolizer->options.debug_folders = DEBUG_FILE_FOLDERS;
    symbolizer->cache = symbolizer->options.cache;
    if (symbolizer->cache == NULL && !symbolizer->options.has_no_cache)
        symbolizer->cache = code_table_cache_folder(symbolizer->cache_path, sizeof(symbolizer->cache_path));
    name_store_init(&symbolizer->names);
}

void symbolizer_use_trace(struct symbolizer *symbolizer, int folder)
{
    symbolizer->trace = folder;
}

void symbolizer_watch(struct symbolizer *symbolizer, struct symbolizer_watch watch)
{
    symbolizer->watch = watch;
}

void symbolizer_deinit(struct symbolizer *symbolizer)
{
    while (symbolizer->files != NULL) {
        struct symbolizer_file *file = symbolizer->files;

        symbolizer->files = file->next;
        source_lines_close(&file->lines);
        module_symbols_close(&file->file);
        free(file);
    }
    while (symbolizer->processes != NULL) {
        struct symbolizer_process *process = symbolizer->processes;

        symbolizer->processes = process->next;
        jit_code_deinit(&process->code);
        free(process);
    }
    name_store_deinit(&symbolizer->names);
}

static void open_file(struct symbolizer *symbolizer, struct symbolizer_file *file, const struct recorded_module *module)
{
    const char *folders = symbolizer->options.debug_folders;
    struct code_table_cache_name name = {.folder = symbolizer->options.has_no_cache ? NULL : symbolizer->cache};
    struct module_symbols *opened = &file->file;

    module_symbols_open_kept(opened, module, folders, symbolizer->trace);
    name.id = opened->build_id;
    name.id_bytes = opened->build_id_bytes;
    if (name.id_bytes == 0 && (opened->problem != NULL || opened->has_kept ||
                               elf_build_id_find(&opened->file.symbols, &name.id, &name.id_bytes) != 0))
        name.folder = NULL;
    source_lines_open(&file->lines, opened->path == NULL ? "" : opened->path, folders, name);
    file->lines.watch = &symbolizer->watch;
}

/* NULL: there is no memory. */
static struct symbolizer_file *get_file(struct symbolizer *symbolizer, const struct recorded_module *module)
{
    struct symbolizer_file **link = &symbolizer->files, *file;

    while (*link != NULL && !module_symbols_is_of(&(*link)->file, module))
        link = &(*link)->next;
    file = *link;
    if (file == NULL) {
        file = calloc(1, sizeof(*file));
        if (file == NULL)
            return NULL;
        open_file(symbolizer, file, module);
    } else {
        *link = file->next;
    }
    file->next = symbolizer->files;
    symbolizer->files = file;
    return file;
}

/* ---- one address ------------------------------------------------------------------------------------------------- */

/* By its address as the file has it, or by the place in the file if nobody knows that. */
static const char *name_place(struct symbolizer *symbolizer, const struct recorded_module *module, uint64_t place)
{
    const char *slash = strrchr(module->path, '/');
    char text[NAME_BYTES];
    int length = snprintf(text, sizeof(text), "%s+0x%" PRIx64, slash == NULL ? module->path : slash + 1, place);

    return name_store_put(&symbolizer->names, text, length < NAME_BYTES ? (size_t)length : NAME_BYTES - 1);
}

/* NULL: it is no stub. */
static const char *name_stub(struct symbolizer *symbolizer, struct symbolizer_file *file, uint64_t place)
{
    char text[NAME_BYTES];
    const char *name;
    size_t length;

    if (module_symbols_stub(&file->file, place, &name, &length) != 0 || length >= sizeof(text))
        return NULL;
    memcpy(text, name, length);
    text[length] = '\0';
    name = name_store_put_function(&symbolizer->names, text, length);
    length = (size_t)snprintf(text, sizeof(text), "%s@plt", name);
    return name_store_put(&symbolizer->names, text, length < sizeof(text) ? length : sizeof(text) - 1);
}

/* Names that were kept have those of stubs among them; NULL: this is none. */
static const char *name_kept_stub(struct symbolizer *symbolizer, const struct elf_symbol *symbol)
{
    const size_t suffix = strlen("@plt");
    char text[NAME_BYTES];
    const char *name;
    size_t length;

    if (symbol->name_length <= suffix || memcmp(symbol->name + symbol->name_length - suffix, "@plt", suffix) != 0)
        return NULL;
    name = name_store_put_function(&symbolizer->names, symbol->name, symbol->name_length - suffix);
    length = (size_t)snprintf(text, sizeof(text), "%s@plt", name);
    return name_store_put(&symbolizer->names, text, length < sizeof(text) ? length : sizeof(text) - 1);
}

/* By symbol tables, if there is a symbol. */
static void name_symbol(struct symbolizer *symbolizer, struct symbolizer_file *file, uint64_t address,
                        struct symbol_place *place)
{
    const struct elf_symbol *symbol = module_symbols_symbol(&file->file, address);

    if (symbol == NULL)
        return;
    place->name = name_kept_stub(symbolizer, symbol);
    if (place->name != NULL)
        return;
    place->symbol = symbol->name;
    place->symbol_length = symbol->name_length;
    place->name = name_store_put_fixed_function(&symbolizer->names, symbol->name, symbol->name_length);
    place->distance = address - symbol->address;
}

static bool find_source(struct symbolizer *symbolizer, struct symbolizer_file *file, uint64_t address,
                        struct source_place *source_out)
{
    return !symbolizer->options.is_symbols_only && source_lines_find(&file->lines, address, source_out);
}

static void name_scopes(struct symbolizer *symbolizer, const struct source_place *source, struct symbol_place *place)
{
    const struct code_table *table = source->table;

    place->count = 0;
    for (const struct code_scope *scope = source->scope; scope != NULL; scope = code_table_parent(table, scope)) {
        /* What is too much is left out before the last one. */
        size_t which = place->count < SYMBOLIZER_FRAMES_MAX ? place->count++ : SYMBOLIZER_FRAMES_MAX - 1;
        struct symbol_frame *frame = &place->frames[which];
        const char *name = code_table_name(table, scope);

        frame->is_inlined = scope->parent != 0;
        if (!frame->is_inlined && scope->is_plain && place->name != NULL)
            frame->function = place->name;
        else if (name[0] != '\0')
            frame->function = name_store_put_fixed_function(&symbolizer->names, name, SIZE_MAX);
        if (frame->is_inlined)
            place->frames[which + 1 < SYMBOLIZER_FRAMES_MAX ? which + 1 : which] = (struct symbol_frame){
                .file = code_table_file(table, scope->file), .line = scope->line, .column = scope->column};
    }
}

/* By debug information, if there is any for it. */
static void name_frames(struct symbolizer *symbolizer, struct symbolizer_file *file, uint64_t address,
                        struct symbol_place *place)
{
    struct symbol_frame *frame = &place->frames[0];
    struct source_place source;

    if (!find_source(symbolizer, file, address, &source))
        return;
    if (source.line != NULL) {
        frame->file = code_table_file(source.table, source.line->file);
        frame->line = source.line->line;
        frame->column = source.line->column;
    }
    if (source.scope != NULL)
        name_scopes(symbolizer, &source, place);
}

/* A name for what has none. */
static const char *name_otherwise(struct symbolizer *symbolizer, struct symbolizer_file *file,
                                  const struct recorded_module *module, uint64_t address)
{
    const char *name = NULL;
    uint64_t place = address - module->start + module->file_offset;

    for (size_t i = 0; i < module->name_count; i++)
        if (module->names[i].address == address)
            return name_store_put(&symbolizer->names, module->names[i].name, strlen(module->names[i].name));
    if (file != NULL && module_symbols_place(&file->file, module, address, &place) == 0)
        name = name_stub(symbolizer, file, place);
    return name != NULL ? name : name_place(symbolizer, module, place);
}

static void clear_place(struct symbol_place *place, const char *problem)
{
    place->frames[0] = (struct symbol_frame){.function = NULL};
    place->count = 1;
    place->symbol = NULL;
    place->symbol_length = 0;
    place->name = NULL;
    place->distance = 0;
    place->problem = problem;
}

static void find(struct symbolizer *symbolizer, const struct recorded_module *module, uint64_t address, bool has_lines,
                 struct symbol_place *place_out)
{
    struct symbolizer_file *file = get_file(symbolizer, module);
    struct symbol_frame *last;
    uint64_t place;

    clear_place(place_out, file == NULL ? "is too large for the memory" : file->file.problem);
    if (file != NULL && module_symbols_place(&file->file, module, address, &place) == 0) {
        name_symbol(symbolizer, file, place, place_out);
        if (has_lines)
            name_frames(symbolizer, file, place, place_out);
    }
    last = &place_out->frames[place_out->count - 1];
    if (last->function == NULL)
        last->function = place_out->name;
    if (last->function == NULL)
        last->function = name_otherwise(symbolizer, file, module, address);
    for (size_t i = 0; i + 1 < place_out->count; i++)
        if (place_out->frames[i].function == NULL)
            place_out->frames[i].function = "?";
}

void symbolizer_find(struct symbolizer *symbolizer, const struct recorded_module *module, uint64_t address,
                     struct symbol_place *place_out)
{
    find(symbolizer, module, address, true, place_out);
}

void symbolizer_find_symbol(struct symbolizer *symbolizer, const struct recorded_module *module, uint64_t address,
                            struct symbol_place *place_out)
{
    find(symbolizer, module, address, false, place_out);
}

/* Where the source of a function begins, rather than the line that its code begins with. */
static void find_declaration(struct symbolizer *symbolizer, struct symbolizer_file *file, uint64_t address,
                             struct symbol_function *function)
{
    const struct code_scope *scope;
    struct source_place source;

    if (!find_source(symbolizer, file, address, &source))
        return;
    scope = source.scope;
    while (scope != NULL && scope->parent != 0)
        scope = code_table_parent(source.table, scope);
    if (scope != NULL && scope->file != 0) {
        function->file = code_table_file(source.table, scope->file);
        function->line = scope->line;
    }
}

void symbolizer_find_function(struct symbolizer *symbolizer, const struct recorded_module *module, uint64_t address,
                              struct symbol_function *function_out)
{
    const struct symbol_frame *last;
    struct symbolizer_file *file;
    struct symbol_place place;
    uint64_t own;

    symbolizer_find(symbolizer, module, address, &place);
    last = &place.frames[place.count - 1];
    *function_out = (struct symbol_function){last->function, last->file, last->line, place.problem};
    /* The symbol tells copies from each other, and was what the recording was asked for. */
    if (place.name != NULL)
        function_out->name = place.name;
    file = get_file(symbolizer, module);
    if (file != NULL && module_symbols_place(&file->file, module, address, &own) == 0)
        find_declaration(symbolizer, file, own, function_out);
}

/* ---- code without a file ----------------------------------------------------------------------------------------- */

/* NULL: there is no memory. */
static struct symbolizer_process *get_process(struct symbolizer *symbolizer, const struct symbol_process *wanted)
{
    struct symbolizer_process *process = symbolizer->processes;

    while (process != NULL && (process->process.pid != wanted->pid || process->process.began != wanted->began))
        process = process->next;
    if (process != NULL)
        return process;
    process = calloc(1, sizeof(*process));
    if (process == NULL)
        return NULL;
    process->process = *wanted;
    jit_code_init(&process->code);
    jit_code_read_process(&process->code, wanted->pid, wanted->began);
    process->next = symbolizer->processes;
    symbolizer->processes = process;
    return process;
}

void symbolizer_find_made(struct symbolizer *symbolizer, const struct symbol_process *process, uint64_t address,
                          uint64_t time_ns, struct symbol_place *place_out)
{
    const struct symbolizer_process *known = get_process(symbolizer, process);
    const struct named_range *range = known == NULL ? NULL : named_code_find(&known->code.functions, address, time_ns);
    struct symbol_frame *frame = &place_out->frames[0];
    char text[32];

    clear_place(place_out, NULL);
    if (range == NULL) {
        frame->function =
            name_store_put(&symbolizer->names, text, (size_t)snprintf(text, sizeof(text), "0x%" PRIx64, address));
        return;
    }
    place_out->symbol = named_code_name(&known->code.functions, range);
    place_out->symbol_length = strlen(place_out->symbol);
    place_out->distance = address - range->begin;
    place_out->name = name_store_put_fixed_function(&symbolizer->names, place_out->symbol, place_out->symbol_length);
    frame->function = place_out->name;
    range = named_code_find(&known->code.lines, address, time_ns);
    if (range != NULL) {
        frame->file = named_code_name(&known->code.lines, range);
        frame->line = range->line;
    }
}

const char *symbolizer_path(struct symbolizer *symbolizer, const struct recorded_module *module)
{
    struct symbolizer_file *file = get_file(symbolizer, module);

    return file == NULL || file->file.path == NULL ? "" : file->file.path;
}

int symbolizer_place(struct symbolizer *symbolizer, const struct recorded_module *module, uint64_t address,
                     uint64_t *place_out)
{
    struct symbolizer_file *file = get_file(symbolizer, module);

    return file == NULL ? -ENOENT : module_symbols_place(&file->file, module, address, place_out);
}

/* ---- many addresses ---------------------------------------------------------------------------------------------- */

static unsigned threads_of(const struct symbolizer *symbolizer)
{
    long count = symbolizer->options.thread_count;

    if (count == 0)
        count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (unsigned)count;
}

static int compare_places(const void *left_place, const void *right_place)
{
    const uint64_t *left = left_place, *right = right_place;

    return *left < *right ? -1 : *left > *right;
}

static void prepare_file(struct symbolizer *symbolizer, struct symbolizer_file *file, uint64_t *places, size_t count)
{
    if (count == 0)
        return;
    qsort(places, count, sizeof(places[0]), compare_places);
    source_lines_prepare(&file->lines, places, count, threads_of(symbolizer));
}

/* Notes where in its file an address is, in a list that is as long as there are addresses of that file. */
static void gather(struct symbolizer *symbolizer, const struct symbol_address *address)
{
    struct symbolizer_file *file = get_file(symbolizer, address->module);
    uint64_t place;

    if (file == NULL || module_symbols_place(&file->file, address->module, address->address, &place) != 0)
        return;
    if (ARRAY_RESERVE_NEXT(file->asked, file->asked_count) == 0)
        file->asked[file->asked_count++] = place;
}

void symbolizer_prepare(struct symbolizer *symbolizer, const struct symbol_address *addresses, size_t count)
{
    if (symbolizer->options.is_symbols_only)
        return;
    for (size_t i = 0; i < count; i++)
        gather(symbolizer, &addresses[i]);
    for (struct symbolizer_file *file = symbolizer->files; file != NULL; file = file->next) {
        prepare_file(symbolizer, file, file->asked, file->asked_count);
        free(file->asked);
        file->asked = NULL;
        file->asked_count = 0;
    }
}
