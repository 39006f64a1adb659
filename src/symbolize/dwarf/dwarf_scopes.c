/* SPDX-License-Identifier: MIT */
/*
 * Most entries describe types, variables and parameters: they are passed over, with all that is below them where they
 * say where that ends. The walk only goes forward, so that it ends where the unit ends, whatever a file says.
 */
#include "symbolize/dwarf/dwarf_scopes.h"

#include "symbolize/dwarf/dwarf_reader.h"

#include <errno.h>

#define DEPTH_MAX   400
#define HOPS_MAX    16 /* from an entry to what it refers to, and so on */
#define PLAIN_NAME  (1ull << 32)
#define OTHER_FILE  (1ull << 63)
#define ENTRY_BYTES 64 /* what reading an entry costs, about */

static uint16_t narrow(uint64_t column)
{
    return column > UINT16_MAX ? 0 : (uint16_t)column;
}

static uint32_t narrow_line(uint64_t line)
{
    return line > UINT32_MAX ? 0 : (uint32_t)line;
}

/* ---- what entries refer to --------------------------------------------------------------------------------------- */

/* An entry, and the unit that it is in. */
struct found_entry {
    struct dwarf_open_unit *unit;
    struct dwarf_entry entry;
};

/* What an entry refers to for all that it does not say itself; NULL: nothing. */
static const struct dwarf_value *origin_of(const struct dwarf_entry *entry)
{
    if (entry->fields[DWARF_FIELD_ABSTRACT_ORIGIN].form != 0)
        return &entry->fields[DWARF_FIELD_ABSTRACT_ORIGIN];
    return entry->fields[DWARF_FIELD_SPECIFICATION].form != 0 ? &entry->fields[DWARF_FIELD_SPECIFICATION] : NULL;
}

/* False: what is there cannot be read here, which is noted. */
static bool find_entry(struct dwarf_reader *reader, const struct dwarf_file *file, uint64_t place,
                       struct found_entry *found_out)
{
    struct dwarf_open_unit *unit = reader->unit;
    const struct dwarf_unit_header *header = unit->view.header;
    struct dwarf_cursor cursor;

    if (!dwarf_open_units_spend(&reader->units, ENTRY_BYTES))
        reader->result = -ENOTSUP;
    if (file != unit->view.file || place < header->begin || place >= header->end) {
        header = dwarf_file_unit(file, place);
        if (header == NULL || reader->unit->skeleton != NULL ||
            dwarf_open_units_get(&reader->units, file, header, &unit) != 0 || unit->is_skeleton)
            reader->result = -ENOTSUP;
    }
    if (reader->result != 0)
        return false;
    cursor = dwarf_unit_cursor(&unit->view, place);
    found_out->unit = unit;
    if (dwarf_entry_read(&unit->view, &cursor, &found_out->entry))
        return true;
    reader->result = -ENOTSUP;
    return false;
}

static bool follow(struct dwarf_reader *reader, const struct dwarf_open_unit *unit, const struct dwarf_value *reference,
                   struct found_entry *found_out)
{
    const struct dwarf_file *file;
    uint64_t place;

    if (dwarf_value_reference(&unit->view, reference, &file, &place))
        return find_entry(reader, file, place, found_out);
    reader->result = -ENOTSUP;
    return false;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static struct code_name add_name(struct dwarf_reader *reader, const char *linkage_name, const char *name)
{
    if (linkage_name != NULL)
        return (struct code_name){code_table_builder_add_text(&reader->builder, linkage_name), false};
    return (struct code_name){name == NULL ? 0 : code_table_builder_add_text(&reader->builder, name),
                              reader->has_linkage_names};
}

/* By the first name along the way; one that linkers know is better than others. */
static struct code_name name_found(struct dwarf_reader *reader, struct found_entry *found)
{
    const char *linkage_name = NULL, *name = NULL;

    for (unsigned i = 0; i < HOPS_MAX; i++) {
        const struct dwarf_value *origin = origin_of(&found->entry);
        const struct dwarf_value copy = origin == NULL ? (struct dwarf_value){.form = 0} : *origin;

        linkage_name = dwarf_value_text(&found->unit->view, &found->entry.fields[DWARF_FIELD_LINKAGE_NAME]);
        if (name == NULL)
            name = dwarf_value_text(&found->unit->view, &found->entry.fields[DWARF_FIELD_NAME]);
        if (linkage_name != NULL || copy.form == 0 || !follow(reader, found->unit, &copy, found))
            break;
    }
    return add_name(reader, linkage_name, name);
}

/* A function that is put into others often is named by all of them, by where its own entry is. */
static struct code_name name_by_origin(struct dwarf_reader *reader, const struct dwarf_value *origin)
{
    struct code_name name = {0};
    const struct dwarf_file *file;
    struct found_entry found;
    uint64_t place, key, known;

    if (!dwarf_value_reference(&reader->unit->view, origin, &file, &place)) {
        reader->result = -ENOTSUP;
        return name;
    }
    key = file == reader->unit->view.file ? place : place | OTHER_FILE;
    if (place_map_find(&reader->names, key, &known))
        return (struct code_name){(uint32_t)known, (known & PLAIN_NAME) != 0};
    if (!find_entry(reader, file, place, &found))
        return name;
    name = name_found(reader, &found);
    place_map_add(&reader->names, key, name.text | (name.is_plain ? PLAIN_NAME : 0));
    return name;
}

static struct code_name name_of(struct dwarf_reader *reader, const struct dwarf_entry *entry)
{
    const struct dwarf_unit_view *view = &reader->unit->view;
    const char *linkage_name = dwarf_value_text(view, &entry->fields[DWARF_FIELD_LINKAGE_NAME]);
    const struct dwarf_value *origin = origin_of(entry);

    if (linkage_name == NULL && origin != NULL)
        return name_by_origin(reader, origin);
    return add_name(reader, linkage_name, dwarf_value_text(view, &entry->fields[DWARF_FIELD_NAME]));
}

/* ---- places in the source ---------------------------------------------------------------------------------------- */

static struct source_location call_of(struct dwarf_reader *reader, const struct dwarf_entry *entry)
{
    const struct dwarf_value *file = &entry->fields[DWARF_FIELD_CALL_FILE];
    struct source_location place = {.line = narrow_line(dwarf_value_number(&entry->fields[DWARF_FIELD_CALL_LINE])),
                                    .column = narrow(dwarf_value_number(&entry->fields[DWARF_FIELD_CALL_COLUMN]))};

    if (file->form != 0)
        place.file = dwarf_reader_file(reader, reader->unit, dwarf_value_number(file));
    return place;
}

/* What is said nearest to the entry itself counts, each for itself. */
static void take_declared(struct dwarf_reader *reader, const struct found_entry *found, struct source_location *place,
                          unsigned *known)
{
    const struct dwarf_value *file = &found->entry.fields[DWARF_FIELD_DECL_FILE];
    const struct dwarf_value *line = &found->entry.fields[DWARF_FIELD_DECL_LINE];
    const struct dwarf_value *column = &found->entry.fields[DWARF_FIELD_DECL_COLUMN];

    if (file->form != 0 && !(*known & 1))
        place->file = dwarf_reader_file(reader, found->unit, dwarf_value_number(file));
    if (line->form != 0 && !(*known & 2))
        place->line = narrow_line(dwarf_value_number(line));
    if (column->form != 0 && !(*known & 4))
        place->column = narrow(dwarf_value_number(column));
    *known |= (file->form != 0 ? 1u : 0) | (line->form != 0 ? 2u : 0) | (column->form != 0 ? 4u : 0);
}

static struct source_location declaration_of(struct dwarf_reader *reader, const struct dwarf_entry *entry)
{
    struct found_entry found = {.unit = reader->unit, .entry = *entry};
    struct source_location place = {.file = 0};
    unsigned known = 0;

    for (unsigned i = 0; i < HOPS_MAX; i++) {
        const struct dwarf_value *origin = origin_of(&found.entry);
        const struct dwarf_value copy = origin == NULL ? (struct dwarf_value){.form = 0} : *origin;

        take_declared(reader, &found, &place, &known);
        if (known == 7 || copy.form == 0 || !follow(reader, found.unit, &copy, &found))
            break;
    }
    return place.file == 0 ? (struct source_location){.file = 0} : place;
}

/* ---- scopes ------------------------------------------------------------------------------------------------------ */

struct taken_range {
    struct dwarf_reader *reader;
    uint32_t scope;
};

static void add_range(void *context, uint64_t begin, uint64_t end)
{
    const struct taken_range *taken = context;
    const struct dwarf_extent *extent = taken->reader->extent;

    if (dwarf_extent_has(extent, begin) && dwarf_extent_has(extent, end))
        code_table_builder_add_range(&taken->reader->builder, taken->scope, begin + extent->distance,
                                     end + extent->distance);
}

static void add_ranges(struct dwarf_reader *reader, uint32_t scope, const struct dwarf_entry *entry)
{
    const struct dwarf_value *low = &entry->fields[DWARF_FIELD_LOW_PC], *high = &entry->fields[DWARF_FIELD_HIGH_PC];
    const struct dwarf_unit_view *view = &reader->unit->view;
    struct taken_range taken = {reader, scope};
    uint64_t begin, end, read_bytes;

    if (low->form != 0 && high->form != 0) {
        if (!dwarf_value_address(view, low, &begin))
            return;
        if (!dwarf_value_is_address(high))
            end = begin + dwarf_value_number(high);
        else if (!dwarf_value_address(view, high, &end))
            return;
        add_range(&taken, begin, end);
        return;
    }
    read_bytes = dwarf_value_ranges(view, &entry->fields[DWARF_FIELD_RANGES], add_range, &taken);
    if (!dwarf_open_units_spend(&reader->units, read_bytes))
        reader->result = -ENOTSUP;
}

/* A function, or one that was put into another. Its number and one; 0: it has no code, as descriptions have none. */
static uint32_t take_scope(struct dwarf_reader *reader, const struct dwarf_entry *entry, uint32_t around)
{
    bool is_inlined = entry->abbreviation->kind == DWARF_KIND_INLINED;
    uint32_t scope;

    if (entry->fields[DWARF_FIELD_RANGES].form == 0 &&
        (entry->fields[DWARF_FIELD_LOW_PC].form == 0 || entry->fields[DWARF_FIELD_HIGH_PC].form == 0))
        return 0;
    scope = code_table_builder_add_scope(&reader->builder, name_of(reader, entry), is_inlined ? around : 0,
                                         is_inlined ? call_of(reader, entry) : declaration_of(reader, entry));
    if (scope != 0)
        add_ranges(reader, scope, entry);
    return scope;
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

/* Entries below the same one. */
struct level {
    uint32_t around; /* the scope that they are in; 0: none */
    bool is_in_function;
};

struct scope_walk {
    struct dwarf_reader *reader;
    const struct dwarf_abbreviations *abbreviations;
    struct dwarf_cursor cursor;
    const uint8_t *unit_begin;
    struct level levels[DEPTH_MAX];
    size_t depth;
};

/* The shape of the next entry; NULL: there is none, or none that is known, which ends the walk. */
static const struct dwarf_abbreviation *next_shape(struct scope_walk *walk, uint64_t number)
{
    if (number < walk->abbreviations->entry_count && walk->abbreviations->entries[number].is_known)
        return &walk->abbreviations->entries[number];
    walk->reader->result = -ENOTSUP;
    dwarf_cursor_fail(&walk->cursor);
    return NULL;
}

/* Goes behind the attributes of an entry. True: behind all that is below it, too. */
static bool pass_entry(struct scope_walk *walk, const struct dwarf_abbreviation *shape)
{
    const struct dwarf_step *step = &walk->abbreviations->steps[shape->first_step];
    struct dwarf_cursor *cursor = &walk->cursor;

    for (; step->kind != DWARF_STEP_END; step++) {
        if (step->kind == DWARF_STEP_SIBLING && shape->has_children && !cursor->has_failed) {
            uint64_t place = dwarf_cursor_number(cursor, 4);

            if (place > (uint64_t)(cursor->at - walk->unit_begin) &&
                place <= (uint64_t)(cursor->end - walk->unit_begin)) {
                cursor->at = walk->unit_begin + place;
                return true;
            }
            dwarf_cursor_fail(cursor);
            return true;
        }
        dwarf_step_take(*step, cursor);
    }
    return !shape->has_children;
}

static void pass_attributes(struct scope_walk *walk, const struct dwarf_abbreviation *shape)
{
    for (const struct dwarf_step *step = &walk->abbreviations->steps[shape->first_step]; step->kind != DWARF_STEP_END;
         step++)
        dwarf_step_take(*step, &walk->cursor);
}

/* Goes behind an entry and all that is below it. */
static void pass_tree(struct scope_walk *walk, const struct dwarf_abbreviation *shape)
{
    size_t open = pass_entry(walk, shape) ? 0 : 1;

    while (open != 0 && walk->cursor.at != walk->cursor.end) {
        uint64_t number = dwarf_cursor_uleb(&walk->cursor);

        if (number == 0) {
            open--;
            continue;
        }
        shape = next_shape(walk, number);
        if (shape != NULL && !pass_entry(walk, shape))
            open++;
    }
}

static bool may_hold_functions(const struct scope_walk *walk, const struct dwarf_abbreviation *shape)
{
    if (shape->kind == DWARF_KIND_TYPE)
        return walk->levels[walk->depth].is_in_function || !walk->reader->is_flat;
    return shape->kind != DWARF_KIND_OTHER;
}

static void take_entry(struct scope_walk *walk, const struct dwarf_abbreviation *shape)
{
    bool is_function = shape->kind == DWARF_KIND_FUNCTION || shape->kind == DWARF_KIND_INLINED;
    struct level level = walk->levels[walk->depth];
    struct dwarf_entry entry;
    uint32_t scope = 0;

    if (walk->depth + 1 == DEPTH_MAX || !may_hold_functions(walk, shape)) {
        pass_tree(walk, shape);
        return;
    }
    if (is_function) {
        dwarf_entry_read_fields(&walk->reader->unit->view, shape, &walk->cursor, &entry);
        if (!walk->cursor.has_failed)
            scope = take_scope(walk->reader, &entry, level.around);
    } else {
        pass_attributes(walk, shape);
    }
    if (!shape->has_children)
        return;
    walk->levels[++walk->depth] =
        (struct level){scope == 0 ? level.around : scope, level.is_in_function || is_function};
}

void dwarf_scopes_take(struct dwarf_reader *reader)
{
    const struct dwarf_unit_view *view = &reader->unit->view;
    struct scope_walk walk = {.reader = reader,
                              .abbreviations = view->abbreviations,
                              .unit_begin = view->file->sections.info.bytes + view->header->begin};

    if (reader->unit->first_child == 0)
        return;
    walk.cursor = dwarf_unit_cursor(view, reader->unit->first_child);
    while (walk.cursor.at != walk.cursor.end && reader->result == 0) {
        uint64_t number = dwarf_cursor_uleb(&walk.cursor);
        const struct dwarf_abbreviation *shape = number == 0 ? NULL : next_shape(&walk, number);

        if (shape != NULL)
            take_entry(&walk, shape);
        else if (number == 0 && walk.depth-- == 0)
            break;
    }
    if (walk.cursor.has_failed && reader->result == 0)
        reader->result = -ENOTSUP;
}
