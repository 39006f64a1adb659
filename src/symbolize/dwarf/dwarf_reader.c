/* SPDX-License-Identifier: MIT */
/*
 * The lines come from the unit's line program; the scopes from its tree of entries (dwarf_scopes.h). Rows of a line
 * table are in order within a sequence, and sequences, one for each section that the compiler made, in any order.
 */
#include "symbolize/dwarf/dwarf_reader.h"

#include "symbolize/dwarf/dwarf_names.h"
#include "symbolize/dwarf/dwarf_scopes.h"

#include <errno.h>
#include <stdlib.h>

#define PATH_BYTES 4096
/* Well-behaved files are read once, and what is shared a few times. */
#define WORK_FACTOR 16
#define WORK_BYTES  (64ull << 20)

static uint64_t bytes_of(const struct dwarf_file *file)
{
    const struct dwarf_sections *sections = &file->sections;

    return sections->info.size_bytes + sections->abbrev.size_bytes + sections->line.size_bytes +
           sections->ranges.size_bytes + sections->rnglists.size_bytes +
           (file->shared == NULL ? 0 : bytes_of(file->shared));
}

void dwarf_reader_init(struct dwarf_reader *reader, const struct dwarf_file *file, const struct dwarf_extent *extent)
{
    *reader = (struct dwarf_reader){.file = file, .extent = extent};
    dwarf_open_units_init(&reader->units, WORK_FACTOR * bytes_of(file) + WORK_BYTES);
    place_map_init(&reader->names);
}

void dwarf_reader_deinit(struct dwarf_reader *reader)
{
    dwarf_open_units_deinit(&reader->units);
    place_map_deinit(&reader->names);
    free(reader->rows.rows);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static bool make_numbers(struct dwarf_reader *reader, struct dwarf_open_unit *unit)
{
    size_t size_bytes = (unit->lines.file_count + 1) * sizeof(unit->file_numbers[0]);

    if (unit->file_numbers == NULL)
        unit->file_numbers = malloc(size_bytes);
    if (unit->file_numbers == NULL)
        return false;
    if (unit->file_round != reader->round)
        memset(unit->file_numbers, 0, size_bytes);
    unit->file_round = reader->round;
    return true;
}

static uint16_t add_file(struct dwarf_reader *reader, struct dwarf_open_unit *unit, uint64_t file)
{
    char path[PATH_BYTES];

    if (!dwarf_line_table_path(&unit->lines, file, unit->folder, path, sizeof(path)))
        return 0;
    return code_table_builder_add_file(&reader->builder, path);
}

uint16_t dwarf_reader_file(struct dwarf_reader *reader, struct dwarf_open_unit *unit, uint64_t file)
{
    if (unit->skeleton != NULL && unit->lines_begin == UINT64_MAX)
        unit = unit->skeleton;
    if (dwarf_open_units_lines(&reader->units, unit) == NULL || file >= unit->lines.file_count ||
        !make_numbers(reader, unit))
        return 0;
    if (unit->file_numbers[file] == 0)
        unit->file_numbers[file] = add_file(reader, unit, file) + 1u;
    return (uint16_t)(unit->file_numbers[file] - 1);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Rows that belong together. */
struct sequence {
    uint64_t address;
    size_t first;
    size_t end;
};

static int compare_sequences(const void *left_sequence, const void *right_sequence)
{
    const struct sequence *left = left_sequence, *right = right_sequence;

    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    return left->first < right->first ? -1 : 1;
}

/* The number of sequences; those of code that was thrown away are left out. NULL: they are only counted. */
static size_t find_sequences(const struct dwarf_reader *reader, struct sequence *sequences)
{
    const struct dwarf_rows *rows = &reader->rows;
    size_t count = 0, first = 0;

    for (size_t i = 0; i < rows->count; i++) {
        if (!rows->rows[i].is_end && i + 1 < rows->count)
            continue;
        if (dwarf_extent_has(reader->extent, rows->rows[first].address)) {
            if (sequences != NULL)
                sequences[count] = (struct sequence){rows->rows[first].address, first, i + 1};
            count++;
        }
        first = i + 1;
    }
    return count;
}

static void add_sequence(struct dwarf_reader *reader, const struct sequence *sequence)
{
    uint32_t last_file = UINT32_MAX;
    uint16_t number = 0;

    for (size_t i = sequence->first; i < sequence->end; i++) {
        const struct dwarf_row *row = &reader->rows.rows[i];
        struct source_location place = {.file = 0};

        if (!dwarf_extent_has(reader->extent, row->address))
            continue;
        if (!row->is_end) {
            if (row->file != last_file)
                number = dwarf_reader_file(reader, reader->unit, row->file);
            last_file = row->file;
            place = (struct source_location){number, row->column, row->line};
        }
        code_table_builder_add_line(&reader->builder, row->address + reader->extent->distance, place);
    }
}

static int add_rows(struct dwarf_reader *reader)
{
    size_t count = find_sequences(reader, NULL);
    struct sequence *sequences = calloc(count + 1, sizeof(*sequences));

    if (sequences == NULL)
        return -ENOMEM;
    (void)find_sequences(reader, sequences);
    if (count != 0)
        qsort(sequences, count, sizeof(sequences[0]), compare_sequences);
    for (size_t i = 0; i < count; i++)
        add_sequence(reader, &sequences[i]);
    free(sequences);
    return 0;
}

static int take_lines(struct dwarf_reader *reader)
{
    const struct dwarf_line_table *lines;
    int result;

    if (reader->unit->entry.fields[DWARF_FIELD_STMT_LIST].form == 0)
        return 0;
    lines = dwarf_open_units_lines(&reader->units, reader->unit);
    if (lines == NULL)
        return -ENOTSUP;
    reader->rows.count = 0;
    result = dwarf_line_table_run(lines, &reader->rows);
    return result == 0 ? add_rows(reader) : result;
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

static bool is_c(uint64_t language)
{
    return language == DWARF_LANG_C || language == DWARF_LANG_C89 || language == DWARF_LANG_C99 ||
           language == DWARF_LANG_C11 || language == DWARF_LANG_C17;
}

static bool is_cpp(uint64_t language)
{
    return language == DWARF_LANG_C_PLUS_PLUS || language == DWARF_LANG_C_PLUS_PLUS_03 ||
           language == DWARF_LANG_C_PLUS_PLUS_11 || language == DWARF_LANG_C_PLUS_PLUS_14 ||
           language == DWARF_LANG_C_PLUS_PLUS_17 || language == DWARF_LANG_C_PLUS_PLUS_20;
}

static void take_language(struct dwarf_reader *reader)
{
    const struct dwarf_value *value = &reader->unit->entry.fields[DWARF_FIELD_LANGUAGE];
    uint64_t language = dwarf_value_number(value);

    reader->is_flat = is_c(language) || is_cpp(language);
    /* The names of these are those that linkers see. */
    reader->has_linkage_names =
        value->form != 0 && !is_c(language) && language != DWARF_LANG_MIPS_ASSEMBLER && language != DWARF_LANG_GO;
}

static int take_unit(struct dwarf_reader *reader)
{
    int result = take_lines(reader);

    if (result == 0 && reader->unit->is_skeleton)
        result = dwarf_open_units_get_split(&reader->units, reader->package, reader->unit, &reader->unit);
    if (result != 0)
        return result;
    take_language(reader);
    place_map_clear(&reader->names);
    reader->result = 0;
    dwarf_scopes_take(reader);
    return reader->result;
}

int dwarf_reader_make_table(struct dwarf_reader *reader, uint64_t unit, void **block_out, size_t *size_out)
{
    const struct dwarf_unit_header *header = dwarf_file_unit(reader->file, unit);
    int result;

    if (header == NULL || header->first_entry != unit)
        return -ENOENT;
    dwarf_open_units_trim(&reader->units);
    result = dwarf_open_units_get(&reader->units, reader->file, header, &reader->unit);
    if (result == 0 && reader->unit->is_skeleton && reader->package == NULL)
        result = -ENOTSUP;
    if (result != 0)
        return result;
    reader->round++;
    code_table_builder_init(&reader->builder);
    result = take_unit(reader);
    if (result == 0)
        result = code_table_builder_finish(&reader->builder, block_out, size_out);
    code_table_builder_deinit(&reader->builder);
    return result;
}
