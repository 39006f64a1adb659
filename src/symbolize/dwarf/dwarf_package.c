/* SPDX-License-Identifier: MIT */
/*
 * The index: a header, a hash table of numbers of units, and beside it their rows (from 1 on); then the numbers of the
 * sections that the columns are of, then a row for each unit with where its parts begin, and one with how long they
 * are.
 */
#include "symbolize/dwarf/dwarf_package.h"

#include "symbolize/dwarf/dwarf_names.h"

#include <errno.h>

#define HEADER_BYTES 16
#define COLUMNS_MAX  16

static uint64_t bytes_of_index(const struct dwarf_package *package)
{
    return HEADER_BYTES + 12ull * package->slot_count + 4ull * package->column_count * (1 + 2ull * package->row_count);
}

static int read_header(struct dwarf_package *package)
{
    struct dwarf_cursor cursor = dwarf_cursor_at(package->index, 0);

    package->version = (uint16_t)dwarf_cursor_number(&cursor, 2);
    (void)dwarf_cursor_number(&cursor, 2);
    package->column_count = (uint32_t)dwarf_cursor_number(&cursor, 4);
    package->row_count = (uint32_t)dwarf_cursor_number(&cursor, 4);
    package->slot_count = (uint32_t)dwarf_cursor_number(&cursor, 4);
    if (cursor.has_failed || (package->version != 2 && package->version != 5) || package->column_count > COLUMNS_MAX ||
        package->slot_count == 0 || (package->slot_count & (package->slot_count - 1)) != 0 ||
        bytes_of_index(package) > package->index.size_bytes)
        return -ENOTSUP;
    return 0;
}

int dwarf_package_init(struct dwarf_package *package, const struct dwarf_sections *sections, struct dwarf_span index,
                       const struct dwarf_sections *program)
{
    struct dwarf_sections all = *sections;
    int result;

    *package = (struct dwarf_package){.index = index};
    all.addr = program->addr;
    all.ranges = program->ranges;
    result = read_header(package);
    return result == 0 ? dwarf_file_init(&package->file, &all, NULL) : result;
}

void dwarf_package_deinit(struct dwarf_package *package)
{
    dwarf_file_deinit(&package->file);
    *package = (struct dwarf_package){.row_count = 0};
}

/* A number of the index; all of them are inside of it. */
static uint64_t number_at(const struct dwarf_package *package, uint64_t place, unsigned size_bytes)
{
    struct dwarf_cursor cursor = dwarf_cursor_at(package->index, place);

    return dwarf_cursor_number(&cursor, size_bytes);
}

/* The row of a unit, from 1 on; 0: there is none. */
static uint32_t find_row(const struct dwarf_package *package, uint64_t id)
{
    uint64_t mask = package->slot_count - 1, slot = id & mask, step = (id >> 32 & mask) | 1;

    for (uint32_t i = 0; i < package->slot_count; i++, slot = (slot + step) & mask) {
        uint32_t row = (uint32_t)number_at(package, HEADER_BYTES + 8ull * package->slot_count + 4 * slot, 4);

        if (row == 0 || row > package->row_count)
            return 0;
        if (number_at(package, HEADER_BYTES + 8 * slot, 8) == id)
            return row;
    }
    return 0;
}

static void take_part(const struct dwarf_package *package, uint64_t section, uint64_t begin,
                      struct dwarf_package_parts *parts)
{
    switch (section) {
    case DWARF_SECT_INFO:
        parts->info = begin;
        break;
    case DWARF_SECT_ABBREV:
        parts->abbrev = begin;
        break;
    case DWARF_SECT_LINE:
        parts->line = begin;
        break;
    case DWARF_SECT_STR_OFFSETS:
        parts->str_offsets = begin;
        break;
    case DWARF_SECT_RNGLISTS:
        if (package->version >= 5)
            parts->rnglists = begin;
        break;
    default:
        break;
    }
}

int dwarf_package_find(const struct dwarf_package *package, uint64_t id, struct dwarf_package_parts *parts_out)
{
    struct dwarf_package_parts parts = {.info = UINT64_MAX, .line = UINT64_MAX};
    uint64_t columns = HEADER_BYTES + 12ull * package->slot_count;
    uint64_t row_bytes = 4ull * package->column_count;
    uint32_t row = find_row(package, id);

    if (row == 0)
        return -ENOENT;
    for (uint32_t i = 0; i < package->column_count; i++) {
        uint64_t begin = columns + row * row_bytes + 4ull * i;

        if (number_at(package, begin + package->row_count * row_bytes, 4) != 0)
            take_part(package, number_at(package, columns + 4ull * i, 4), number_at(package, begin, 4), &parts);
    }
    if (parts.info == UINT64_MAX)
        return -ENOENT;
    *parts_out = parts;
    return 0;
}
