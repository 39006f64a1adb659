/* SPDX-License-Identifier: MIT */
#include "symbolize/dwarf/dwarf_file.h"

#include "base/partition_point.h"
#include "hosted/growing_array.h"
#include "symbolize/dwarf/dwarf_names.h"

#include <errno.h>
#include <stdlib.h>

#define UNITS_MAX (1u << 24)

struct dwarf_span *dwarf_sections_by_name(struct dwarf_sections *sections, const char *name)
{
    const struct {
        const char *name;
        struct dwarf_span *span;
    } known[] = {
        {"info", &sections->info},       {"abbrev", &sections->abbrev},           {"line", &sections->line},
        {"str", &sections->str},         {"line_str", &sections->line_str},       {"ranges", &sections->ranges},
        {"addr", &sections->addr},       {"str_offsets", &sections->str_offsets}, {"rnglists", &sections->rnglists},
        {"aranges", &sections->aranges},
    };
    static const char prefix[] = ".debug_", packed_prefix[] = ".zdebug_";

    if (strncmp(name, prefix, sizeof(prefix) - 1) == 0)
        name += sizeof(prefix) - 1;
    else if (strncmp(name, packed_prefix, sizeof(packed_prefix) - 1) == 0)
        name += sizeof(packed_prefix) - 1;
    else
        return NULL;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        size_t length = strlen(known[i].name);

        if (strncmp(name, known[i].name, length) == 0 && (name[length] == '\0' || strcmp(name + length, ".dwo") == 0))
            return known[i].span;
    }
    return NULL;
}

/* ---- headers ----------------------------------------------------------------------------------------------------- */

/* Behind the version: in DWARF 5 other things stand there, in another order. */
static void read_rest(struct dwarf_cursor *cursor, struct dwarf_unit_header *header)
{
    struct dwarf_sizes *sizes = &header->sizes;

    if (header->version >= 5) {
        header->type = dwarf_cursor_byte(cursor);
        sizes->address_bytes = dwarf_cursor_byte(cursor);
        header->abbreviations = dwarf_cursor_number(cursor, sizes->offset_bytes);
    } else {
        header->type = DWARF_UT_COMPILE;
        header->abbreviations = dwarf_cursor_number(cursor, sizes->offset_bytes);
        sizes->address_bytes = dwarf_cursor_byte(cursor);
    }
    sizes->reference_bytes = header->version == 2 ? sizes->address_bytes : sizes->offset_bytes;
    if (header->type == DWARF_UT_SKELETON || header->type == DWARF_UT_SPLIT_COMPILE)
        header->dwo_id = dwarf_cursor_number(cursor, 8);
    /* What stands behind the header of others is not of interest: they are left alone. */
}

static bool read_header(struct dwarf_span info, uint64_t begin, struct dwarf_unit_header *header_out)
{
    struct dwarf_cursor cursor = dwarf_cursor_at(info, begin);
    struct dwarf_unit_header header = {.begin = begin};
    uint64_t length = dwarf_cursor_length(&cursor, &header.sizes.offset_bytes);

    if (cursor.has_failed || length == 0 || length > dwarf_cursor_left(&cursor))
        return false;
    header.end = (uint64_t)(cursor.at - info.bytes) + length;
    cursor.end = info.bytes + header.end;
    header.version = (uint16_t)dwarf_cursor_number(&cursor, 2);
    if (header.version < 2 || header.version > 5)
        return false;
    read_rest(&cursor, &header);
    if (cursor.has_failed || (header.sizes.address_bytes != 8 && header.sizes.address_bytes != 4))
        return false;
    header.first_entry = (uint64_t)(cursor.at - info.bytes);
    *header_out = header;
    return true;
}

static int add_unit(struct dwarf_file *file, size_t *capacity, const struct dwarf_unit_header *header)
{
    if (file->unit_count >= UNITS_MAX || ARRAY_RESERVE(file->units, *capacity, file->unit_count + 1) != 0)
        return -ENOMEM;
    file->units[file->unit_count++] = *header;
    return 0;
}

int dwarf_file_init(struct dwarf_file *file, const struct dwarf_sections *sections, const struct dwarf_file *shared)
{
    struct dwarf_unit_header header = {.end = 0};
    size_t capacity = 0;

    *file = (struct dwarf_file){.sections = *sections, .shared = shared};
    while (read_header(sections->info, header.end, &header))
        if (add_unit(file, &capacity, &header) != 0) {
            dwarf_file_deinit(file);
            return -ENOMEM;
        }
    return 0;
}

void dwarf_file_deinit(struct dwarf_file *file)
{
    free(file->units);
    *file = (struct dwarf_file){.unit_count = 0};
}

const struct dwarf_unit_header *dwarf_file_unit(const struct dwarf_file *file, uint64_t place)
{
    size_t low = PARTITION_POINT(file->unit_count, i, file->units[i].begin <= place);

    return low == 0 || place >= file->units[low - 1].end ? NULL : &file->units[low - 1];
}
