/* SPDX-License-Identifier: MIT */
#include "support/table_compare.h"

#include "symbolize/dwarf/dwarf_code.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_MAX  5
#define TEXT_BYTES 16384

static const char *file_of(const struct code_table *table, uint16_t file)
{
    const char *path = code_table_file(table, file);

    return path == NULL ? "?" : path;
}

/* All that a table says of an address. */
static void describe(const struct code_table *table, uint64_t address, char *text)
{
    const struct code_line *line = code_table_line(table, address);
    size_t used = 0;

    text[0] = '\0';
    if (line != NULL)
        used += (size_t)snprintf(text, TEXT_BYTES, "%s:%" PRIu32 ":%u", file_of(table, line->file), line->line,
                                 line->column);
    for (const struct code_scope *scope = code_table_scope(table, address); scope != NULL && used < TEXT_BYTES;
         scope = code_table_parent(table, scope))
        used += (size_t)snprintf(text + used, TEXT_BYTES - used, " | %s%s (%s:%" PRIu32 ":%u)",
                                 code_table_name(table, scope), scope->is_plain ? "'" : "", file_of(table, scope->file),
                                 scope->line, scope->column);
}

static size_t compare_at(const struct code_table *left, const struct code_table *right, uint64_t address)
{
    static char texts[2][TEXT_BYTES];
    static unsigned shown;

    describe(left, address, texts[0]);
    describe(right, address, texts[1]);
    if (strcmp(texts[0], texts[1]) == 0)
        return 0;
    if (shown++ < SHOWN_MAX)
        printf("at 0x%" PRIx64 ":\n  %s\n  %s\n", address, texts[0], texts[1]);
    return 1;
}

static size_t compare_changes(const struct code_table *of, const struct code_table *left,
                              const struct code_table *right, const struct dwarf_range *range, size_t *count)
{
    const struct code_table_header *header = of->header;
    size_t differences = 0;

    for (uint32_t i = 0; i < header->line_count + header->span_count; i++) {
        uint64_t address =
            header->base + (i < header->line_count ? of->lines[i].offset : of->spans[i - header->line_count].offset);

        if (address < range->begin || address >= range->end)
            continue;
        differences += compare_at(left, right, address);
        ++*count;
    }
    return differences;
}

size_t table_compare(const struct code_table *left, const struct code_table *right, const struct dwarf_range *range,
                     size_t *count_out)
{
    return compare_changes(left, left, right, range, count_out) + compare_changes(right, left, right, range, count_out);
}
