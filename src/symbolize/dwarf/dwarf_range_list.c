/* SPDX-License-Identifier: MIT */
/*
 * A unit's own entry says which code it has; of the others below it nothing is read. For units that do not say it there
 * may be a table, .debug_aranges.
 */
#include "symbolize/dwarf/dwarf_range_list.h"

#include "hosted/growing_array.h"
#include "symbolize/dwarf/dwarf_names.h"
#include "symbolize/dwarf/dwarf_open_units.h"

#include <errno.h>
#include <stdlib.h>

#define RANGES_MAX (1u << 24)

int dwarf_range_list_add(struct dwarf_range_list *list, const struct dwarf_extent *extent, struct dwarf_range range)
{
    range.begin += extent->distance;
    range.end += extent->distance;
    if (range.begin == extent->distance || range.begin >= range.end || range.begin < extent->begin ||
        range.end > extent->end)
        return 0;
    if (list->count >= RANGES_MAX || ARRAY_RESERVE(list->ranges, list->capacity, list->count + 1) != 0)
        return -ENOMEM;
    list->ranges[list->count++] = range;
    return 0;
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

struct range_list_reading {
    struct dwarf_range_list *list;
    const struct dwarf_extent *extent;
    uint64_t unit;
    bool has_told; /* the unit has code, also if it is thrown away */
    int result;
};

static void take(void *context, uint64_t begin, uint64_t end)
{
    struct range_list_reading *reading = context;

    reading->has_told = true;
    if (reading->result == 0)
        reading->result =
            dwarf_range_list_add(reading->list, reading->extent, (struct dwarf_range){begin, end, reading->unit});
}

static int read_unit(struct range_list_reading *reading, const struct dwarf_file *file,
                     const struct dwarf_unit_header *header)
{
    const struct dwarf_value *low, *high;
    struct dwarf_open_unit unit;
    uint64_t begin, end;
    int result = dwarf_open_unit_peek(file, header, &unit);

    if (result != 0)
        return result;
    reading->unit = header->first_entry;
    reading->has_told = false;
    low = &unit.entry.fields[DWARF_FIELD_LOW_PC];
    high = &unit.entry.fields[DWARF_FIELD_HIGH_PC];
    if (low->form == 0 || high->form == 0) {
        (void)dwarf_value_ranges(&unit.view, &unit.entry.fields[DWARF_FIELD_RANGES], take, reading);
        return reading->result;
    }
    if (!dwarf_value_address(&unit.view, low, &begin))
        return -ENOTSUP;
    if (!dwarf_value_is_address(high))
        end = begin + dwarf_value_number(high);
    else if (!dwarf_value_address(&unit.view, high, &end))
        return -ENOTSUP;
    take(reading, begin, end);
    return reading->result;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* What a part of it begins with; false: there is none. */
static bool read_part(struct dwarf_cursor *cursor, struct dwarf_cursor *part_out, uint64_t *unit_out,
                      unsigned *address_bytes_out)
{
    const uint8_t *begin = cursor->at;
    struct dwarf_cursor part = *cursor;
    uint8_t offset_bytes;
    uint64_t length = dwarf_cursor_length(&part, &offset_bytes), version;

    if (part.has_failed || length > dwarf_cursor_left(&part))
        return false;
    part.end = part.at + length;
    cursor->at = part.end;
    version = dwarf_cursor_number(&part, 2);
    *unit_out = dwarf_cursor_number(&part, offset_bytes);
    *address_bytes_out = dwarf_cursor_byte(&part);
    if (version != 2 || dwarf_cursor_byte(&part) != 0 || (*address_bytes_out != 8 && *address_bytes_out != 4))
        return false;
    /* Pairs are aligned, as counted from the beginning of the part. */
    while ((size_t)(part.at - begin) % (2 * *address_bytes_out) != 0 && !part.has_failed)
        (void)dwarf_cursor_byte(&part);
    *part_out = part;
    return !part.has_failed;
}

/* Those of units that have told nothing themselves. */
static int read_table(struct range_list_reading *reading, const struct dwarf_file *file, const bool *has_told)
{
    struct dwarf_cursor cursor = dwarf_cursor_at(file->sections.aranges, 0), part;
    unsigned address_bytes;
    uint64_t place;

    while (cursor.at != cursor.end && read_part(&cursor, &part, &place, &address_bytes)) {
        const struct dwarf_unit_header *header = dwarf_file_unit(file, place);

        if (header == NULL || header->begin != place || has_told[header - file->units])
            continue;
        reading->unit = header->first_entry;
        while (part.at != part.end && reading->result == 0) {
            uint64_t begin = dwarf_cursor_number(&part, address_bytes);
            uint64_t length = dwarf_cursor_number(&part, address_bytes);

            if (!part.has_failed && length != 0)
                take(reading, begin, begin + length);
        }
    }
    return reading->result;
}

int dwarf_range_list_read(struct dwarf_range_list *list, const struct dwarf_file *file,
                          const struct dwarf_extent *extent)
{
    struct range_list_reading reading = {.list = list, .extent = extent};
    bool *has_told = calloc(file->unit_count + 1, sizeof(*has_told));
    int result = has_told == NULL ? -ENOMEM : 0;

    for (size_t i = 0; i < file->unit_count && result == 0; i++) {
        if (file->units[i].type == DWARF_UT_TYPE)
            continue;
        result = read_unit(&reading, file, &file->units[i]);
        has_told[i] = reading.has_told;
    }
    if (result == 0)
        result = read_table(&reading, file, has_told);
    free(has_told);
    return result;
}
