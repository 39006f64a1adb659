/* SPDX-License-Identifier: MIT */
#include "query/row_formats.h"

#include "hosted/growing_array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_WAITING  1000
#define BYTES_WAITING (1u << 20)
#define COLUMN_MIN    6 /* no column is cut to less */

static const char dots[] = "\xe2\x80\xa6"; /* an ellipsis */

/* Lines around cells. */
struct ruler {
    const char *left;
    const char *middle;
    const char *right;
};

static const struct ruler ruler_top = {"┌", "┬", "┐"}, ruler_middle = {"├", "┼", "┤"}, ruler_bottom = {"└", "┴", "┘"};

void row_table_init(struct row_table *table, FILE *stream, bool has_lines, size_t screen_width)
{
    *table = (struct row_table){.stream = stream, .has_lines = has_lines, .screen_width = screen_width};
}

void row_table_deinit(struct row_table *table)
{
    row_text_deinit(&table->text);
    free(table->cells);
    free(table->widths);
    free(table->are_numbers);
    table->cells = NULL;
    table->widths = NULL;
    table->are_numbers = NULL;
}

/* ---- widths ------------------------------------------------------------------------------------------------------ */

/* What a row takes besides its cells: "│ a │ b │", or "a  b". */
static size_t frame_width(const struct row_table *table)
{
    return table->has_lines ? 3 * table->column_count + 1 : 2 * (table->column_count - 1);
}

static void measure(struct row_table *table)
{
    memset(table->widths, 0, table->column_count * sizeof(*table->widths));
    for (size_t i = 0; i < table->cell_count; i++)
        if (table->cells[i].width > table->widths[i % table->column_count])
            table->widths[i % table->column_count] = table->cells[i].width;
}

static size_t widest_text(const struct row_table *table)
{
    size_t widest = table->column_count;

    for (size_t i = 0; i < table->column_count; i++)
        if (!table->are_numbers[i] && table->widths[i] > COLUMN_MIN &&
            (widest == table->column_count || table->widths[i] > table->widths[widest]))
            widest = i;
    return widest;
}

/* Takes from the widest columns of texts until rows fit, or nothing can be taken any more. */
static void shrink(struct row_table *table)
{
    size_t total = frame_width(table);

    for (size_t i = 0; i < table->column_count; i++)
        total += table->widths[i];
    while (table->screen_width != 0 && total > table->screen_width) {
        size_t widest = widest_text(table);

        if (widest == table->column_count)
            return;
        table->widths[widest]--;
        total--;
    }
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void put_spaces(FILE *stream, size_t count)
{
    fprintf(stream, "%*s", (int)(count < 4096 ? count : 4096), "");
}

static void put_ruler(const struct row_table *table, const struct ruler *ruler)
{
    if (!table->has_lines)
        return;
    for (size_t i = 0; i < table->column_count; i++) {
        fputs(i == 0 ? ruler->left : ruler->middle, table->stream);
        for (size_t j = 0; j < table->widths[i] + 2; j++)
            fputs("─", table->stream);
    }
    fprintf(table->stream, "%s\n", ruler->right);
}

/* The last one of a line that has no frame gets no spaces behind it. */
static void put_cell(const struct row_table *table, const struct row_table_cell *cell, size_t column)
{
    const char *bytes = table->text.bytes + cell->start;
    size_t size_bytes = cell->size_bytes, width = cell->width, room = table->widths[column];
    bool is_cut = table->screen_width != 0 && width > room;

    if (is_cut) {
        size_bytes = row_cell_fit(bytes, size_bytes, room - 1, &width);
        width++;
    }
    if (table->are_numbers[column] && width < room)
        put_spaces(table->stream, room - width);
    fwrite(bytes, 1, size_bytes, table->stream);
    fputs(is_cut ? dots : "", table->stream);
    if (!table->are_numbers[column] && width < room && (table->has_lines || column + 1 < table->column_count))
        put_spaces(table->stream, room - width);
}

static void put_row(const struct row_table *table, const struct row_table_cell *cells)
{
    for (size_t i = 0; i < table->column_count; i++) {
        fputs(table->has_lines ? (i == 0 ? "│ " : " │ ") : (i == 0 ? "" : "  "), table->stream);
        put_cell(table, &cells[i], i);
    }
    fputs(table->has_lines ? " │\n" : "\n", table->stream);
}

/* Shows what waits; the first time, with the header above it. */
static void show(struct row_table *table)
{
    if (!table->is_shown) {
        measure(table);
        shrink(table);
        put_ruler(table, &ruler_top);
    }
    for (size_t i = 0; i < table->cell_count; i += table->column_count) {
        put_row(table, &table->cells[i]);
        if (i == 0 && !table->is_shown)
            put_ruler(table, &ruler_middle);
    }
    table->is_shown = true;
    table->cell_count = 0;
    table->text.used = 0;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int add_cell(struct row_table *table, const struct query_value *value)
{
    struct row_table_cell cell = {.start = table->text.used};
    int result = row_cell_add(&table->text, value, &cell.width);

    if (result != 0)
        return result;
    cell.size_bytes = table->text.used - cell.start;
    if (ARRAY_RESERVE(table->cells, table->cell_capacity, table->cell_count + 1) != 0)
        return -ENOMEM;
    table->cells[table->cell_count++] = cell;
    return 0;
}

static int begin(void *context, const char *const *names, size_t count)
{
    struct row_table *table = context;
    int result = 0;

    row_table_deinit(table);
    table->cell_count = table->cell_capacity = 0;
    table->column_count = count;
    table->widths = calloc(count, sizeof(*table->widths));
    table->are_numbers = calloc(count, sizeof(*table->are_numbers));
    if (table->widths == NULL || table->are_numbers == NULL)
        return -ENOMEM;
    table->is_shown = false;
    fputs(table->is_second ? "\n" : "", table->stream);
    table->is_second = true;
    for (size_t i = 0; i < count && result == 0; i++) {
        table->are_numbers[i] = true;
        result = add_cell(table,
                          &(struct query_value){.type = QUERY_TEXT, .bytes = names[i], .size_bytes = strlen(names[i])});
    }
    return result;
}

static int row(void *context, const struct query_value *values, size_t count)
{
    struct row_table *table = context;
    int result = 0;

    for (size_t i = 0; i < count && result == 0; i++) {
        if (!table->is_shown && (values[i].type == QUERY_TEXT || values[i].type == QUERY_BLOB))
            table->are_numbers[i] = false;
        result = add_cell(table, &values[i]);
    }
    if (table->is_shown || table->cell_count > ROWS_WAITING * count || table->text.used > BYTES_WAITING)
        show(table);
    return result != 0 ? result : ferror(table->stream) != 0;
}

static int end(void *context)
{
    struct row_table *table = context;

    if (!table->is_shown || table->cell_count != 0)
        show(table);
    put_ruler(table, &ruler_bottom);
    return 0;
}

struct query_receiver row_table_receiver(struct row_table *table)
{
    return (struct query_receiver){begin, row, end, table};
}
