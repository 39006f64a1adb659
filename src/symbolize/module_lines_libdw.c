/* SPDX-License-Identifier: MIT */
/*
 * A row of a line table is about the code up to the next row at another address, if it does not end a sequence: of
 * several at one address, each is where a statement begins.
 */
#define _GNU_SOURCE
#include "symbolize/module_lines.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

struct line_row {
    Dwarf_Addr address;
    int line;
    bool ends_sequence;
    const char *source; /* as the table has it */
};

struct line_walk {
    const struct module_lines_visitor *visitor;
    const char *folder; /* in which the unit was compiled; NULL: not known */
    const char *source; /* that was told last; a place in memory, no text */
};

static bool read_row(Dwarf_Lines *lines, size_t which, struct line_row *row_out)
{
    Dwarf_Line *line = dwarf_onesrcline(lines, which);

    if (line == NULL || dwarf_lineaddr(line, &row_out->address) != 0 || dwarf_lineno(line, &row_out->line) != 0 ||
        dwarf_lineendsequence(line, &row_out->ends_sequence) != 0)
        return false;
    row_out->source = dwarf_linesrc(line, NULL, NULL);
    return true;
}

/* Whether it is in the unit's folder already: libdw puts that in front of some sources, even if it is not absolute. */
static bool is_in_folder(const char *source, const char *folder)
{
    size_t length = strlen(folder);

    return strncmp(source, folder, length) == 0 && source[length] == '/';
}

/* The same source is mostly at the same place in memory. */
static int emit_source(struct line_walk *walk, const char *source)
{
    const struct module_lines_visitor *visitor = walk->visitor;
    char *joined;
    int result;

    if (source == walk->source)
        return 0;
    walk->source = source;
    if (source[0] == '/' || walk->folder == NULL || is_in_folder(source, walk->folder))
        return visitor->source(visitor->context, source);
    if (asprintf(&joined, "%s/%s", walk->folder, source) < 0)
        return -ENOMEM;
    result = visitor->source(visitor->context, joined);
    free(joined);
    return result;
}

static int emit_row(struct line_walk *walk, const struct line_row *row, uint64_t end)
{
    const struct module_lines_visitor *visitor = walk->visitor;
    int result;

    /* Line 0 is code that belongs to none. */
    if (row->ends_sequence || row->line <= 0 || row->source == NULL || end <= row->address)
        return 0;
    result = emit_source(walk, row->source);
    return result != 0 ? result : visitor->line(visitor->context, row->address, end, (uint32_t)row->line);
}

/* Where the code of a row ends: where the first one behind it is that has another address. */
static uint64_t end_of(Dwarf_Lines *lines, size_t count, size_t which, const struct line_row *row)
{
    struct line_row next;

    for (size_t i = which + 1; i < count; i++)
        if (read_row(lines, i, &next) && (next.address != row->address || next.ends_sequence))
            return next.address;
    return row->address;
}

static int visit_unit(struct line_walk *walk, Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    Dwarf_Lines *lines;
    struct line_row row;
    size_t count;
    int result = 0;

    if (dwarf_getsrclines(unit, &lines, &count) != 0)
        return 0;
    walk->folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    walk->source = NULL;
    for (size_t i = 0; i < count && result == 0; i++)
        if (read_row(lines, i, &row))
            result = emit_row(walk, &row, end_of(lines, count, i, &row));
    return result;
}

static int visit(Dwarf *dwarf, const struct module_lines_visitor *visitor)
{
    struct line_walk walk = {.visitor = visitor};
    Dwarf_Off offset = 0, next;
    size_t header_bytes;
    int result = 0;

    while (result == 0 && dwarf_nextcu(dwarf, offset, &next, &header_bytes, NULL, NULL, NULL) == 0) {
        Dwarf_Die unit;

        if (dwarf_offdie(dwarf, offset + header_bytes, &unit) != NULL)
            result = visit_unit(&walk, &unit);
        offset = next;
    }
    return result;
}

int module_lines_visit(const char *path, const struct module_lines_visitor *visitor)
{
    Dwfl *session = dwfl_begin(&callbacks);
    Dwfl_Module *module;
    Dwarf_Addr bias;
    Dwarf *dwarf;
    int result = -ENOENT;

    if (session == NULL)
        return -ENOMEM;
    dwfl_report_begin(session);
    module = dwfl_report_offline(session, path, path, -1);
    (void)dwfl_report_end(session, NULL, NULL);
    dwarf = module == NULL ? NULL : dwfl_module_getdwarf(module, &bias);
    if (dwarf != NULL)
        result = visit(dwarf, visitor);
    dwfl_end(session);
    return result;
}
