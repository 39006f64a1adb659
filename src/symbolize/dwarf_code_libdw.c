/* SPDX-License-Identifier: MIT */
/*
 * libdwfl finds the files that belong together, libdw reads them: also split, compressed and shared ones. Addresses in
 * a separate file may differ from those in the program by a distance, which is added here. Functions that the linker
 * has thrown away are left in debug information, at addresses where no code is: they are passed over.
 */
#define _GNU_SOURCE
#include "symbolize/dwarf_code.h"

#include "symbolize/dwarf_unit.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>

#define RANGES_AT_FIRST 256
#define RANGES_MAX      (1u << 24)

struct dwarf_code {
    Dwfl_Callbacks callbacks;
    char *folders;
    Dwfl *session;
    Dwarf *dwarf;
    struct dwarf_extent extent;
};

struct range_list {
    struct dwarf_range *ranges;
    size_t count;
    size_t capacity;
};

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Where there is code, from the first to the last. */
static void find_extent(Elf *elf, struct dwarf_extent *extent)
{
    GElf_Phdr segment;
    size_t count = 0;

    extent->begin = UINT64_MAX;
    extent->end = 0;
    (void)elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++) {
        if (gelf_getphdr(elf, (int)i, &segment) == NULL || segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
            continue;
        if (segment.p_vaddr < extent->begin)
            extent->begin = segment.p_vaddr;
        if (segment.p_vaddr + segment.p_memsz > extent->end)
            extent->end = segment.p_vaddr + segment.p_memsz;
    }
}

static int open_module(struct dwarf_code *code, Dwfl_Module *module)
{
    GElf_Addr program_bias;
    Dwarf_Addr bias;
    Elf *elf = dwfl_module_getelf(module, &program_bias);

    code->dwarf = elf == NULL ? NULL : dwfl_module_getdwarf(module, &bias);
    if (code->dwarf == NULL)
        return -ENOENT;
    find_extent(elf, &code->extent);
    code->extent.distance = bias - program_bias;
    return 0;
}

/* Beside the file, in .debug beside it, and in the folders; what is found by name must have the right sum. */
static int begin_session(struct dwarf_code *code, const char *folders)
{
    if (asprintf(&code->folders, "+:.debug:%s", folders) < 0) {
        code->folders = NULL;
        return -ENOMEM;
    }
    code->callbacks = (Dwfl_Callbacks){.find_elf = dwfl_build_id_find_elf,
                                       .find_debuginfo = dwfl_standard_find_debuginfo,
                                       .section_address = dwfl_offline_section_address,
                                       .debuginfo_path = &code->folders};
    code->session = dwfl_begin(&code->callbacks);
    return code->session == NULL ? -ENOMEM : 0;
}

int dwarf_code_open(const char *path, const char *folders, struct dwarf_code **code_out)
{
    struct dwarf_code *code = calloc(1, sizeof(*code));
    Dwfl_Module *module = NULL;

    if (code == NULL)
        return -ENOMEM;
    if (begin_session(code, folders) == 0) {
        dwfl_report_begin(code->session);
        module = dwfl_report_offline(code->session, path, path, -1);
        (void)dwfl_report_end(code->session, NULL, NULL);
    }
    if (module == NULL || open_module(code, module) != 0) {
        dwarf_code_close(code);
        return -ENOENT;
    }
    *code_out = code;
    return 0;
}

void dwarf_code_close(struct dwarf_code *code)
{
    if (code == NULL)
        return;
    if (code->session != NULL)
        dwfl_end(code->session);
    free(code->folders);
    free(code);
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

static int add_range(struct range_list *list, const struct dwarf_extent *extent, struct dwarf_range range)
{
    range.begin += extent->distance;
    range.end += extent->distance;
    if (range.begin == extent->distance || range.begin >= range.end || range.begin < extent->begin ||
        range.end > extent->end)
        return 0;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? RANGES_AT_FIRST : 2 * list->capacity;
        struct dwarf_range *grown =
            capacity > RANGES_MAX ? NULL : realloc(list->ranges, capacity * sizeof(list->ranges[0]));

        if (grown == NULL)
            return -ENOMEM;
        list->ranges = grown;
        list->capacity = capacity;
    }
    list->ranges[list->count++] = range;
    return 0;
}

static int add_unit(struct range_list *list, const struct dwarf_extent *extent, Dwarf_Die *unit)
{
    struct dwarf_range range = {.unit = dwarf_dieoffset(unit)};
    Dwarf_Addr base;
    ptrdiff_t place = 0;
    int result = 0;

    while (result == 0 && (place = dwarf_ranges(unit, place, &base, &range.begin, &range.end)) > 0)
        result = add_range(list, extent, range);
    return result;
}

/* Some units do not say it themselves, but a table does. */
static int add_from_table(struct range_list *list, struct dwarf_code *code)
{
    Dwarf_Aranges *table;
    size_t count = 0;
    int result = 0;

    if (dwarf_getaranges(code->dwarf, &table, &count) != 0)
        return 0;
    for (size_t i = 0; result == 0 && i < count; i++) {
        struct dwarf_range range;
        Dwarf_Word length;
        Dwarf_Off unit;

        if (dwarf_getarangeinfo(dwarf_onearange(table, i), &range.begin, &length, &unit) != 0)
            continue;
        range.end = range.begin + length;
        range.unit = unit;
        result = add_range(list, &code->extent, range);
    }
    return result;
}

int dwarf_code_ranges(struct dwarf_code *code, struct dwarf_range **ranges_out, size_t *count_out)
{
    struct range_list list = {.count = 0};
    Dwarf_CU *unit = NULL;
    Dwarf_Die entry;
    int result = 0;

    while (result == 0 && dwarf_get_units(code->dwarf, unit, &unit, NULL, NULL, &entry, NULL) == 0)
        result = add_unit(&list, &code->extent, &entry);
    if (result == 0)
        result = add_from_table(&list, code);
    if (result != 0) {
        free(list.ranges);
        return result;
    }
    *ranges_out = list.ranges;
    *count_out = list.count;
    return 0;
}

int dwarf_code_make_table(struct dwarf_code *code, uint64_t unit, void **block_out, size_t *size_out,
                          bool *is_whole_out)
{
    Dwarf_Die entry;

    if (dwarf_offdie(code->dwarf, unit, &entry) == NULL)
        return -ENOENT;
    return dwarf_unit_make_table(&entry, &code->extent, block_out, size_out, is_whole_out);
}
