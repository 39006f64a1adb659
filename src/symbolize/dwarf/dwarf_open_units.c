/* SPDX-License-Identifier: MIT */
/* Several units may have the same table of abbreviations: after optimization as a whole, all of them. */
#include "symbolize/dwarf/dwarf_open_units.h"

#include "symbolize/dwarf/dwarf_names.h"
#include "symbolize/dwarf/dwarf_package.h"

#include <errno.h>
#include <stdlib.h>

#define UNITS_MAX 512

struct dwarf_abbreviation_table {
    struct dwarf_abbreviation_table *next;
    const struct dwarf_file *file;
    uint64_t place;
    struct dwarf_sizes sizes;
    struct dwarf_abbreviations abbreviations;
};

void dwarf_open_units_init(struct dwarf_open_units *units, uint64_t work_bytes)
{
    *units = (struct dwarf_open_units){.work_left = work_bytes};
    place_map_init(&units->by_header);
}

static void forget(struct dwarf_open_units *units)
{
    while (units->units != NULL) {
        struct dwarf_open_unit *unit = units->units;

        units->units = unit->next;
        dwarf_line_table_deinit(&unit->lines);
        free(unit->file_numbers);
        free(unit);
    }
    while (units->tables != NULL) {
        struct dwarf_abbreviation_table *table = units->tables;

        units->tables = table->next;
        dwarf_abbreviations_deinit(&table->abbreviations);
        free(table);
    }
    units->count = 0;
    place_map_clear(&units->by_header);
}

void dwarf_open_units_deinit(struct dwarf_open_units *units)
{
    forget(units);
    place_map_deinit(&units->by_header);
}

void dwarf_open_units_trim(struct dwarf_open_units *units)
{
    if (units->count > UNITS_MAX)
        forget(units);
}

bool dwarf_open_units_spend(struct dwarf_open_units *units, uint64_t size_bytes)
{
    if (size_bytes > units->work_left) {
        units->work_left = 0;
        return false;
    }
    units->work_left -= size_bytes;
    return true;
}

/* ---- abbreviations ----------------------------------------------------------------------------------------------- */

static bool is_of(const struct dwarf_abbreviation_table *table, const struct dwarf_file *file,
                  const struct dwarf_unit_header *header)
{
    return table->file == file && table->place == header->abbreviations &&
           memcmp(&table->sizes, &header->sizes, sizeof(table->sizes)) == 0;
}

/* The one that was used last is first: the next unit often has the same. */
static struct dwarf_abbreviation_table *find_table(struct dwarf_open_units *units, const struct dwarf_file *file,
                                                   const struct dwarf_unit_header *header)
{
    struct dwarf_abbreviation_table **link = &units->tables, *table;

    while (*link != NULL && !is_of(*link, file, header))
        link = &(*link)->next;
    table = *link;
    if (table != NULL) {
        *link = table->next;
        table->next = units->tables;
        units->tables = table;
    }
    return table;
}

static int get_table(struct dwarf_open_units *units, const struct dwarf_file *file,
                     const struct dwarf_unit_header *header, const struct dwarf_abbreviations **table_out)
{
    const struct dwarf_abbreviations_wanted wanted = {file->sections.abbrev, header->abbreviations, header->sizes, 0};
    struct dwarf_abbreviation_table *table = find_table(units, file, header);
    int result;

    if (table == NULL) {
        table = calloc(1, sizeof(*table));
        if (table == NULL)
            return -ENOMEM;
        table->file = file;
        table->place = header->abbreviations;
        table->sizes = header->sizes;
        result = dwarf_abbreviations_read(&table->abbreviations, &wanted);
        if (!dwarf_open_units_spend(units, result == 0 ? table->abbreviations.read_bytes : wanted.section.size_bytes))
            result = -ENOTSUP;
        if (result != 0) {
            dwarf_abbreviations_deinit(&table->abbreviations);
            free(table);
            return result;
        }
        table->next = units->tables;
        units->tables = table;
    }
    *table_out = &table->abbreviations;
    return 0;
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

/* Without a word of it, tables begin behind the header of the first part. */
static uint64_t base_of(const struct dwarf_open_unit *unit, enum dwarf_field field, uint64_t header_bytes)
{
    const struct dwarf_value *value = &unit->entry.fields[field];

    return value->form == 0 ? header_bytes : dwarf_value_number(value);
}

static int read_own_entry(struct dwarf_open_unit *unit)
{
    struct dwarf_unit_view *view = &unit->view;
    struct dwarf_cursor cursor = dwarf_unit_cursor(view, view->header->first_entry);
    bool is_wide = view->header->sizes.offset_bytes == 8;

    if (!dwarf_entry_read(view, &cursor, &unit->entry))
        return -ENOTSUP;
    view->str_offsets_base = base_of(unit, DWARF_FIELD_STR_OFFSETS_BASE, is_wide ? 16 : 8);
    view->addr_base = base_of(unit, DWARF_FIELD_ADDR_BASE, is_wide ? 16 : 8);
    view->rnglists_base = base_of(unit, DWARF_FIELD_RNGLISTS_BASE, is_wide ? 20 : 12);
    if (!dwarf_value_address(view, &unit->entry.fields[DWARF_FIELD_LOW_PC], &view->base_address))
        view->base_address = 0;
    unit->folder = dwarf_value_text(view, &unit->entry.fields[DWARF_FIELD_COMP_DIR]);
    if (unit->entry.abbreviation->has_children)
        unit->first_child = (uint64_t)(cursor.at - view->file->sections.info.bytes);
    return 0;
}

/* Units of types are not read here. */
static bool is_known(const struct dwarf_unit_header *header)
{
    return header->type == DWARF_UT_COMPILE || header->type == DWARF_UT_PARTIAL || header->type == DWARF_UT_SKELETON ||
           header->type == DWARF_UT_SPLIT_COMPILE;
}

static int open_unit(struct dwarf_open_units *units, const struct dwarf_file *file,
                     const struct dwarf_unit_header *header, struct dwarf_open_unit *unit)
{
    int result;

    unit->view.file = file;
    unit->view.header = header;
    unit->lines_result = 1;
    if (!is_known(header))
        return -ENOTSUP;
    result = get_table(units, file, header, &unit->view.abbreviations);
    if (result == 0)
        result = read_own_entry(unit);
    unit->is_skeleton = result == 0 && unit->entry.fields[DWARF_FIELD_DWO_NAME].form != 0;
    return result;
}

static struct dwarf_open_unit *keep(struct dwarf_open_units *units, struct dwarf_open_unit *unit, uint64_t key)
{
    unit->next = units->units;
    units->units = unit;
    units->count++;
    place_map_add(&units->by_header, key, (uint64_t)(uintptr_t)unit);
    return unit;
}

int dwarf_open_units_get(struct dwarf_open_units *units, const struct dwarf_file *file,
                         const struct dwarf_unit_header *header, struct dwarf_open_unit **unit_out)
{
    uint64_t key = (uint64_t)(uintptr_t)header, known;
    struct dwarf_open_unit *unit;
    int result;

    if (place_map_find(&units->by_header, key, &known)) {
        *unit_out = (struct dwarf_open_unit *)(uintptr_t)known;
        return 0;
    }
    unit = calloc(1, sizeof(*unit));
    if (unit == NULL)
        return -ENOMEM;
    result = open_unit(units, file, header, unit);
    if (result != 0) {
        free(unit);
        return result;
    }
    *unit_out = keep(units, unit, key);
    return 0;
}

/* ---- split units ------------------------------------------------------------------------------------------------- */

/* What it has in common with others is in the program; the rest is in its own parts of the package's sections. */
static void set_bases(struct dwarf_open_unit *unit, const struct dwarf_package_parts *parts)
{
    const struct dwarf_open_unit *skeleton = unit->skeleton;
    struct dwarf_unit_view *view = &unit->view;
    bool is_wide = unit->header.sizes.offset_bytes == 8;

    view->addr_base = skeleton->entry.fields[DWARF_FIELD_ADDR_BASE].form == 0 && unit->header.version < 5
                          ? 0
                          : skeleton->view.addr_base;
    view->base_address = skeleton->view.base_address;
    if (unit->header.version >= 5) {
        view->str_offsets_base = parts->str_offsets + (is_wide ? 16 : 8);
        view->rnglists_base = parts->rnglists + (is_wide ? 20 : 12);
        view->ranges_begin = parts->rnglists;
    } else {
        view->str_offsets_base = parts->str_offsets;
        view->ranges_begin = dwarf_value_number(&skeleton->entry.fields[DWARF_FIELD_RANGES_BASE]);
    }
}

static int open_split(struct dwarf_open_units *units, const struct dwarf_package *package,
                      const struct dwarf_package_parts *parts, struct dwarf_open_unit *unit)
{
    const struct dwarf_unit_header *header = dwarf_file_unit(&package->file, parts->info);
    struct dwarf_cursor cursor;
    int result;

    if (header == NULL || header->begin != parts->info)
        return -ENOTSUP;
    unit->header = *header;
    unit->header.abbreviations += parts->abbrev;
    unit->view = (struct dwarf_unit_view){.file = &package->file, .header = &unit->header};
    unit->lines_begin = parts->line;
    result = get_table(units, &package->file, &unit->header, &unit->view.abbreviations);
    if (result != 0)
        return result;
    set_bases(unit, parts);
    cursor = dwarf_unit_cursor(&unit->view, header->first_entry);
    if (!dwarf_entry_read(&unit->view, &cursor, &unit->entry))
        return -ENOTSUP;
    unit->folder = unit->skeleton->folder;
    if (unit->entry.abbreviation->has_children)
        unit->first_child = (uint64_t)(cursor.at - package->file.sections.info.bytes);
    return 0;
}

int dwarf_open_units_get_split(struct dwarf_open_units *units, const struct dwarf_package *package,
                               struct dwarf_open_unit *skeleton, struct dwarf_open_unit **unit_out)
{
    const struct dwarf_value *old_id = &skeleton->entry.fields[DWARF_FIELD_DWO_ID];
    uint64_t id = old_id->form != 0 ? dwarf_value_number(old_id) : skeleton->view.header->dwo_id;
    struct dwarf_package_parts parts;
    struct dwarf_open_unit *unit;
    int result = dwarf_package_find(package, id, &parts);

    if (result != 0)
        return result;
    unit = calloc(1, sizeof(*unit));
    if (unit == NULL)
        return -ENOMEM;
    unit->skeleton = skeleton;
    unit->lines_result = 1;
    result = open_split(units, package, &parts, unit);
    if (result != 0) {
        free(unit);
        return result;
    }
    /* Nobody else asks for it. */
    *unit_out = keep(units, unit, (uint64_t)(uintptr_t)&unit->header);
    return 0;
}

const struct dwarf_line_table *dwarf_open_units_lines(struct dwarf_open_units *units, struct dwarf_open_unit *unit)
{
    const struct dwarf_value *place = &unit->entry.fields[DWARF_FIELD_STMT_LIST];

    if (unit->lines_result <= 0)
        return unit->lines_result == 0 ? &unit->lines : NULL;
    unit->lines_result = -ENOENT;
    if (unit->skeleton != NULL && unit->lines_begin != UINT64_MAX)
        unit->lines_result = dwarf_line_table_read(&unit->lines, &unit->view, unit->lines_begin);
    else if (place->form != 0)
        unit->lines_result = dwarf_line_table_read(&unit->lines, &unit->view, dwarf_value_number(place));
    if (unit->lines_result == 0 && !dwarf_open_units_spend(units, unit->lines.read_bytes))
        unit->lines_result = -ENOTSUP;
    return unit->lines_result == 0 ? &unit->lines : NULL;
}

int dwarf_open_unit_peek(const struct dwarf_file *file, const struct dwarf_unit_header *header,
                         struct dwarf_open_unit *unit_out)
{
    struct dwarf_abbreviations_wanted wanted = {file->sections.abbrev, header->abbreviations, header->sizes, 0};
    struct dwarf_open_unit unit = {.view = {.file = file, .header = header}};
    struct dwarf_abbreviations abbreviations;
    struct dwarf_cursor cursor = dwarf_unit_cursor(&unit.view, header->first_entry);
    int result;

    wanted.last = dwarf_cursor_uleb(&cursor);
    if (!is_known(header))
        return -ENOTSUP;
    result = dwarf_abbreviations_read(&abbreviations, &wanted);
    if (result != 0)
        return result;
    unit.view.abbreviations = &abbreviations;
    result = read_own_entry(&unit);
    dwarf_abbreviations_deinit(&abbreviations);
    unit.view.abbreviations = NULL;
    unit.entry.abbreviation = NULL;
    if (result == 0 && unit.entry.fields[DWARF_FIELD_DWO_NAME].form != 0)
        result = -ENOTSUP;
    if (result == 0)
        *unit_out = unit;
    return result;
}
