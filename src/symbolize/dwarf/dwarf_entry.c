/* SPDX-License-Identifier: MIT */
/*
 * Values are taken as they stand there; what they mean is looked up when it is needed. Indexes into tables of
 * texts and addresses (DWARF 5) count from where the unit says its part of the table begins.
 */
#include "symbolize/dwarf/dwarf_entry.h"

#include "symbolize/dwarf/dwarf_names.h"

#define RANGES_MAX 100000

struct dwarf_cursor dwarf_unit_cursor(const struct dwarf_unit_view *unit, uint64_t place)
{
    struct dwarf_span info = unit->file->sections.info;

    info.size_bytes = unit->header->end;
    if (place < unit->header->first_entry)
        return (struct dwarf_cursor){.has_failed = true};
    return dwarf_cursor_at(info, place);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Where a text, or something else that is no number, stands. */
static uint64_t place_of(const struct dwarf_unit_view *unit, const struct dwarf_cursor *cursor)
{
    return (uint64_t)(cursor->at - unit->file->sections.info.bytes);
}

static uint64_t read_value(const struct dwarf_unit_view *unit, const struct dwarf_attribute *attribute,
                           struct dwarf_cursor *cursor)
{
    struct dwarf_step step = attribute->step;
    uint64_t place;

    switch (attribute->form) {
    case DWARF_FORM_IMPLICIT_CONST:
        return (uint64_t)attribute->constant;
    case DWARF_FORM_FLAG_PRESENT:
        return 1;
    case DWARF_FORM_DATA1:
        return dwarf_cursor_byte(cursor);
    case DWARF_FORM_REF4:
        return dwarf_cursor_number(cursor, 4);
    case DWARF_FORM_SDATA:
        return (uint64_t)dwarf_cursor_sleb(cursor);
    default:
        break;
    }
    if (step.kind == DWARF_STEP_BYTES && step.size_bytes <= 8)
        return dwarf_cursor_number(cursor, step.size_bytes);
    if (step.kind == DWARF_STEP_LEB)
        return dwarf_cursor_uleb(cursor);
    place = place_of(unit, cursor);
    dwarf_step_take(step, cursor);
    return place;
}

void dwarf_entry_read_fields(const struct dwarf_unit_view *unit, const struct dwarf_abbreviation *abbreviation,
                             struct dwarf_cursor *cursor, struct dwarf_entry *entry_out)
{
    const struct dwarf_attribute *attribute = &unit->abbreviations->attributes[abbreviation->first_attribute];

    memset(entry_out, 0, sizeof(*entry_out));
    entry_out->abbreviation = abbreviation;
    for (uint32_t i = 0; i < abbreviation->attribute_count; i++, attribute++) {
        if (attribute->field == DWARF_FIELD_NONE)
            dwarf_step_take(attribute->step, cursor);
        else
            entry_out->fields[attribute->field] =
                (struct dwarf_value){attribute->form, read_value(unit, attribute, cursor)};
    }
}

bool dwarf_entry_read(const struct dwarf_unit_view *unit, struct dwarf_cursor *cursor, struct dwarf_entry *entry_out)
{
    uint64_t number = dwarf_cursor_uleb(cursor);

    if (number == 0)
        return false;
    if (number >= unit->abbreviations->entry_count || !unit->abbreviations->entries[number].is_known) {
        dwarf_cursor_fail(cursor);
        return false;
    }
    dwarf_entry_read_fields(unit, &unit->abbreviations->entries[number], cursor, entry_out);
    return !cursor->has_failed;
}

/* ---- numbers and addresses --------------------------------------------------------------------------------------- */

uint64_t dwarf_value_number(const struct dwarf_value *value)
{
    switch (value->form) {
    case DWARF_FORM_DATA1:
    case DWARF_FORM_DATA2:
    case DWARF_FORM_DATA4:
    case DWARF_FORM_DATA8:
    case DWARF_FORM_UDATA:
    case DWARF_FORM_SDATA:
    case DWARF_FORM_IMPLICIT_CONST:
    case DWARF_FORM_SEC_OFFSET:
        return value->number;
    default:
        return 0;
    }
}

/* An item of a table: so many bytes, counted from its base. False: there is none. */
static bool read_item(struct dwarf_span table, uint64_t base, uint64_t index, unsigned item_bytes, uint64_t *item_out)
{
    struct dwarf_cursor cursor;

    if (index > table.size_bytes || base > table.size_bytes)
        return false;
    cursor = dwarf_cursor_at(table, base + index * item_bytes);
    *item_out = dwarf_cursor_number(&cursor, item_bytes);
    return !cursor.has_failed;
}

static bool indexed_address(const struct dwarf_unit_view *unit, uint64_t index, uint64_t *address_out)
{
    return read_item(unit->file->sections.addr, unit->addr_base, index, unit->header->sizes.address_bytes, address_out);
}

bool dwarf_value_is_address(const struct dwarf_value *value)
{
    return value->form == DWARF_FORM_ADDR || value->form == DWARF_FORM_ADDRX ||
           value->form == DWARF_FORM_GNU_ADDR_INDEX ||
           (value->form >= DWARF_FORM_ADDRX1 && value->form <= DWARF_FORM_ADDRX4);
}

bool dwarf_value_address(const struct dwarf_unit_view *unit, const struct dwarf_value *value, uint64_t *address_out)
{
    if (value->form == DWARF_FORM_ADDR) {
        *address_out = value->number;
        return true;
    }
    return dwarf_value_is_address(value) && indexed_address(unit, value->number, address_out);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static const char *text_at(struct dwarf_span section, uint64_t place)
{
    struct dwarf_cursor cursor = dwarf_cursor_at(section, place);

    return cursor.has_failed ? NULL : dwarf_cursor_text(&cursor);
}

static const char *indexed_text(const struct dwarf_unit_view *unit, uint64_t index)
{
    uint64_t place;

    if (!read_item(unit->file->sections.str_offsets, unit->str_offsets_base, index, unit->header->sizes.offset_bytes,
                   &place))
        return NULL;
    return text_at(unit->file->sections.str, place);
}

const char *dwarf_value_text(const struct dwarf_unit_view *unit, const struct dwarf_value *value)
{
    const struct dwarf_sections *sections = &unit->file->sections;

    switch (value->form) {
    case DWARF_FORM_STRING:
        return text_at(sections->info, value->number);
    case DWARF_FORM_STRP:
        return text_at(sections->str, value->number);
    case DWARF_FORM_LINE_STRP:
        return text_at(sections->line_str, value->number);
    case DWARF_FORM_STRX:
    case DWARF_FORM_GNU_STR_INDEX:
    case DWARF_FORM_STRX1:
    case DWARF_FORM_STRX2:
    case DWARF_FORM_STRX3:
    case DWARF_FORM_STRX4:
        return indexed_text(unit, value->number);
    case DWARF_FORM_GNU_STRP_ALT:
    case DWARF_FORM_STRP_SUP:
        return unit->file->shared == NULL ? NULL : text_at(unit->file->shared->sections.str, value->number);
    default:
        return NULL;
    }
}

/* ---- references -------------------------------------------------------------------------------------------------- */

bool dwarf_value_reference(const struct dwarf_unit_view *unit, const struct dwarf_value *value,
                           const struct dwarf_file **file_out, uint64_t *place_out)
{
    *file_out = unit->file;
    *place_out = value->number;
    switch (value->form) {
    case DWARF_FORM_REF1:
    case DWARF_FORM_REF2:
    case DWARF_FORM_REF4:
    case DWARF_FORM_REF8:
    case DWARF_FORM_REF_UDATA:
        if (value->number >= unit->header->end - unit->header->begin)
            return false;
        *place_out = unit->header->begin + value->number;
        return true;
    case DWARF_FORM_REF_ADDR:
        return true;
    case DWARF_FORM_GNU_REF_ALT:
    case DWARF_FORM_REF_SUP4:
    case DWARF_FORM_REF_SUP8:
        *file_out = unit->file->shared;
        return unit->file->shared != NULL;
    default:
        return false;
    }
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

struct range_reading {
    const struct dwarf_unit_view *unit;
    struct dwarf_cursor cursor;
    uint64_t base;
    uint64_t begin;
    uint64_t end;
    bool has_range;
};

/* An entry of a list of DWARF 4. False: it was the last one. */
static bool read_pair(struct range_reading *reading)
{
    unsigned address_bytes = reading->unit->header->sizes.address_bytes;
    uint64_t begin = dwarf_cursor_number(&reading->cursor, address_bytes);
    uint64_t end = dwarf_cursor_number(&reading->cursor, address_bytes);

    reading->has_range = false;
    if (begin == 0 && end == 0)
        return false;
    if (begin == UINT64_MAX >> (64 - 8 * address_bytes)) {
        reading->base = end;
        return true;
    }
    reading->has_range = true;
    reading->begin = reading->base + begin;
    reading->end = reading->base + end;
    return true;
}

static uint64_t read_indexed(struct range_reading *reading)
{
    uint64_t address = 0;

    if (!indexed_address(reading->unit, dwarf_cursor_uleb(&reading->cursor), &address))
        dwarf_cursor_fail(&reading->cursor);
    return address;
}

/* The same in DWARF 5. */
static bool read_list_entry(struct range_reading *reading)
{
    unsigned address_bytes = reading->unit->header->sizes.address_bytes;
    struct dwarf_cursor *cursor = &reading->cursor;

    reading->has_range = true;
    switch (dwarf_cursor_byte(cursor)) {
    case DWARF_RLE_BASE_ADDRESSX:
        reading->base = read_indexed(reading);
        reading->has_range = false;
        return true;
    case DWARF_RLE_STARTX_ENDX:
        reading->begin = read_indexed(reading);
        reading->end = read_indexed(reading);
        return true;
    case DWARF_RLE_STARTX_LENGTH:
        reading->begin = read_indexed(reading);
        reading->end = reading->begin + dwarf_cursor_uleb(cursor);
        return true;
    case DWARF_RLE_OFFSET_PAIR:
        reading->begin = reading->base + dwarf_cursor_uleb(cursor);
        reading->end = reading->base + dwarf_cursor_uleb(cursor);
        return true;
    case DWARF_RLE_BASE_ADDRESS:
        reading->base = dwarf_cursor_number(cursor, address_bytes);
        reading->has_range = false;
        return true;
    case DWARF_RLE_START_END:
        reading->begin = dwarf_cursor_number(cursor, address_bytes);
        reading->end = dwarf_cursor_number(cursor, address_bytes);
        return true;
    case DWARF_RLE_START_LENGTH:
        reading->begin = dwarf_cursor_number(cursor, address_bytes);
        reading->end = reading->begin + dwarf_cursor_uleb(cursor);
        return true;
    default:
        return false;
    }
}

/* Where the list begins. */
static struct dwarf_cursor find_list(const struct dwarf_unit_view *unit, const struct dwarf_value *value)
{
    const struct dwarf_sections *sections = &unit->file->sections;
    uint64_t place;

    if (value->form == DWARF_FORM_RNGLISTX) {
        if (!read_item(sections->rnglists, unit->rnglists_base, value->number, unit->header->sizes.offset_bytes,
                       &place))
            return (struct dwarf_cursor){.has_failed = true};
        return dwarf_cursor_at(sections->rnglists, unit->rnglists_base + place);
    }
    if (value->form != DWARF_FORM_SEC_OFFSET && value->form != DWARF_FORM_DATA4 && value->form != DWARF_FORM_DATA8)
        return (struct dwarf_cursor){.has_failed = true};
    return dwarf_cursor_at(unit->header->version >= 5 ? sections->rnglists : sections->ranges,
                           value->number + unit->ranges_begin);
}

uint64_t dwarf_value_ranges(const struct dwarf_unit_view *unit, const struct dwarf_value *value,
                            void (*take)(void *context, uint64_t begin, uint64_t end), void *context)
{
    struct range_reading reading = {.unit = unit, .cursor = find_list(unit, value), .base = unit->base_address};
    const uint8_t *begin = reading.cursor.at;
    bool is_list = unit->header->version >= 5;

    for (unsigned i = 0; i < RANGES_MAX && !reading.cursor.has_failed; i++) {
        if (!(is_list ? read_list_entry(&reading) : read_pair(&reading)))
            break;
        if (reading.has_range && !reading.cursor.has_failed && reading.begin < reading.end)
            take(context, reading.begin, reading.end);
    }
    return (uint64_t)(reading.cursor.at - begin);
}
