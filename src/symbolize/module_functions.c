/* SPDX-License-Identifier: MIT */
/* Seldom used parts of functions, and names for code that is not a function, are left out. */
#define _GNU_SOURCE
#include "symbolize/module_functions.h"

#include "elf/build_id.h"
#include "elf/function_list.h"
#include "elf/sections.h"
#include "elf/symbol_file.h"
#include "symbolize/debug_file.h"
#include "symbolize/module_symbols.h"
#include "trace/modules.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct listed_file {
    struct symbol_file file; /* of the file that was recorded */
    bool has_kept;           /* that is not there, and this is used: */
    struct module_symbols kept;
    char *names; /* ended by NULs, one behind the other */
};

static bool is_as_recorded(const struct elf_symbols *symbols, const struct recorded_module *module)
{
    const uint8_t *build_id;
    size_t size_bytes;

    /* Without an ID nobody can tell. */
    if (module->build_id_bytes == 0)
        return true;
    return elf_build_id_find(symbols, &build_id, &size_bytes) == 0 && size_bytes == module->build_id_bytes &&
           memcmp(build_id, module->build_id, size_bytes) == 0;
}

static const char *open_file(const struct recorded_module *module, struct symbol_file *file)
{
    int result = symbol_file_open_whole(module->path, file);

    if (result == -ENOENT || result == -ENOTDIR)
        return "is gone";
    if (result == -ENOEXEC)
        return "is no program or library";
    if (result == -ENOMEM)
        return "is too large for the memory";
    if (result != 0)
        return "may not be read";
    if (is_as_recorded(&file->symbols, module))
        return NULL;
    symbol_file_close(file);
    return "has changed since";
}

static void find_extent(const struct elf_symbols *symbols, struct module_functions *functions)
{
    uint64_t base = UINT64_MAX, end = 0;

    for (uint64_t i = 0; i < symbols->program_header_count; i++) {
        uint64_t at = symbols->program_headers + i * sizeof(Elf64_Phdr);
        Elf64_Phdr segment;

        if (at > symbols->size_bytes || symbols->size_bytes - at < sizeof(segment))
            break;
        memcpy(&segment, symbols->bytes + at, sizeof(segment));
        if (segment.p_type != PT_LOAD || segment.p_vaddr + segment.p_memsz < segment.p_vaddr)
            continue;
        base = segment.p_vaddr < base ? segment.p_vaddr : base;
        end = segment.p_vaddr + segment.p_memsz > end ? segment.p_vaddr + segment.p_memsz : end;
    }
    functions->base = base == UINT64_MAX ? 0 : base;
    functions->end = end;
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static bool is_wanted(const struct elf_function *function)
{
    return !function->is_part && !function->is_label;
}

/* Where the section ends that the address is in. */
static uint64_t section_end(const struct elf_symbols *symbols, uint64_t address)
{
    struct elf_section section;

    for (unsigned i = 0; i < elf_sections_count(symbols); i++)
        if (elf_section_get(symbols, i, &section) == 0 && section.flags & SHF_ALLOC &&
            address - section.address < section.size_bytes)
            return section.address + section.size_bytes;
    return UINT64_MAX;
}

/* Of one whose size nobody says: the next one, or the end of the section. */
static uint64_t end_of(const struct elf_symbols *symbols, const struct elf_function_list *list, size_t i)
{
    const struct elf_function *function = &list->functions[i];
    uint64_t next = i + 1 < list->count ? list->functions[i + 1].start : function->start + 1;
    uint64_t end;

    if (function->size_bytes != 0)
        return function->start + function->size_bytes;
    end = section_end(symbols, function->start);
    return end < next ? end : next;
}

static int keep(struct module_functions *functions, const struct elf_function_list *list)
{
    size_t names_bytes = 1, used = 0;

    for (size_t i = 0; i < list->count; i++)
        names_bytes += list->functions[i].name_length + 1;
    functions->functions = calloc(list->count + 1, sizeof(*functions->functions));
    functions->file->names = malloc(names_bytes);
    if (functions->functions == NULL || functions->file->names == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < list->count; i++) {
        const struct elf_function *function = &list->functions[i];
        char *name = functions->file->names + used;

        if (!is_wanted(function))
            continue;
        if (function->name != NULL) {
            memcpy(name, function->name, function->name_length);
            name[function->name_length] = '\0';
            used += function->name_length + 1;
        }
        functions->functions[functions->count++] = (struct module_function){
            function->start, end_of(&functions->file->file.symbols, list, i), function->name == NULL ? NULL : name};
    }
    return 0;
}

static int list_functions(struct module_functions *functions, const struct elf_symbols *names)
{
    const struct elf_symbols *symbols = &functions->file->file.symbols;
    struct elf_function_list list = {.count = 0};
    struct eh_frame frame = {.bytes = NULL};
    int result = -ENOMEM;

    if (elf_function_list_frame(symbols, &frame) != 0)
        frame = (struct eh_frame){.bytes = NULL};
    list.capacity = elf_function_list_capacity(symbols, &frame) + (names == NULL ? 0 : elf_symbols_count(names));
    list.functions = calloc(list.capacity + 1, sizeof(*list.functions));
    if (list.functions != NULL)
        result = elf_function_list_fill(&list, symbols, names, &frame);
    if (result == 0)
        result = keep(functions, &list);
    free(list.functions);
    return result;
}

/* Stubs of the linker are kept with the functions that they call. */
static bool is_stub(const struct elf_symbol *symbol)
{
    static const char mark[] = "@plt";
    const size_t length = sizeof(mark) - 1;

    return symbol->name_length > length && memcmp(symbol->name + symbol->name_length - length, mark, length) == 0;
}

/* Compilers call the seldom used part of a function "name.cold". */
static bool is_part(const struct elf_symbol *symbol)
{
    return symbol->name_length > 1 && memmem(symbol->name + 1, symbol->name_length - 1, ".cold", 5) != NULL;
}

/* Code whose size nobody says is taken to go on up to the next function; stubs that are between are not its own. */
static uint64_t size_before_stubs(const struct symbol_index *index, size_t which)
{
    const struct elf_symbol *symbol = &index->symbols[which].symbol;
    const struct elf_symbol *next = which + 1 < index->count ? &index->symbols[which + 1].symbol : NULL;

    if (next == NULL || !is_stub(next) ||
        (symbol->size_bytes != 0 && next->address - symbol->address >= symbol->size_bytes))
        return symbol->size_bytes;
    return next->address - symbol->address;
}

static int list_kept(struct module_functions *functions, const struct symbol_index *index)
{
    struct elf_function_list list = {.functions = calloc(index->count + 1, sizeof(*list.functions))};
    int result;

    if (list.functions == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < index->count; i++) {
        const struct elf_symbol *symbol = &index->symbols[i].symbol;

        /* Of several at one address, the best name is last. */
        if (is_stub(symbol) || is_part(symbol) ||
            (i + 1 < index->count && index->symbols[i + 1].symbol.address == symbol->address))
            continue;
        list.functions[list.count++] = (struct elf_function){.start = symbol->address,
                                                             .size_bytes = size_before_stubs(index, i),
                                                             .name = symbol->name,
                                                             .name_length = (uint32_t)symbol->name_length};
    }
    result = keep(functions, &list);
    free(list.functions);
    return result;
}

/* Where the file would be loaded, by where one of its mappings was. */
static void guess_extent(struct module_functions *functions, const struct recorded_module *module)
{
    uint64_t place;

    if (module_symbols_place(&functions->file->kept, module, module->start, &place) == 0 &&
        place >= module->file_offset)
        functions->base = place - module->file_offset;
    functions->end = functions->base + module->file_offset + (module->end - module->start);
}

/* NULL, or the problem, if nothing was kept. */
static const char *open_kept(struct module_functions *functions, const struct recorded_module *module, int trace,
                             const char *problem)
{
    struct listed_file *file = functions->file;

    if (trace < 0)
        return problem;
    module_symbols_open_kept(&file->kept, module, DEBUG_FILE_FOLDERS, trace);
    file->has_kept = true;
    if (!file->kept.has_kept)
        return problem;
    functions->path = file->kept.path == NULL ? "" : file->kept.path;
    guess_extent(functions, module);
    return list_kept(functions, &file->kept.index) == 0 ? NULL : "is too large for the memory";
}

static const char *list_file(struct module_functions *functions, const struct recorded_module *module)
{
    const struct elf_symbols *symbols = &functions->file->file.symbols;
    struct debug_file debug;
    bool has_debug;
    int result;

    functions->path = module->path;
    find_extent(symbols, functions);
    has_debug = debug_file_open(symbols, DEBUG_FILE_FOLDERS, &debug) == 0;
    result = list_functions(functions, has_debug ? &debug.symbols : NULL);
    if (has_debug)
        debug_file_close(&debug);
    return result == 0 ? NULL : "is too large for the memory";
}

const char *module_functions_open(struct module_functions *functions, const struct recorded_module *module, int trace)
{
    const char *problem;

    *functions = (struct module_functions){.path = "", .file = calloc(1, sizeof(*functions->file))};
    if (functions->file == NULL)
        return "is too large for the memory";
    problem = open_file(module, &functions->file->file);
    if (problem == NULL)
        return list_file(functions, module);
    functions->file->file = (struct symbol_file){.memory = NULL};
    return open_kept(functions, module, trace, problem);
}

void module_functions_close(struct module_functions *functions)
{
    struct listed_file *file = functions->file;

    if (file != NULL) {
        if (file->file.memory != NULL)
            symbol_file_close(&file->file);
        if (file->has_kept)
            module_symbols_close(&file->kept);
        free(file->names);
        free(file);
    }
    free(functions->functions);
    *functions = (struct module_functions){.path = ""};
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

int module_functions_place(const struct module_functions *functions, const struct recorded_module *module,
                           uint64_t address, uint64_t *place_out)
{
    if (functions->file != NULL && functions->file->has_kept)
        return module_symbols_place(&functions->file->kept, module, address, place_out);
    if (functions->file == NULL || functions->file->file.memory == NULL)
        return -ENOENT;
    return elf_symbols_address_at(&functions->file->file.symbols, address - module->start + module->file_offset,
                                  place_out);
}
