/* SPDX-License-Identifier: MIT */
#include "query/row_formats.h"

#include "support/check.h"
#include "support/written_rows.h"

static const char *const names[] = {"name", "n"};
static const struct query_value rows[][2] = {
    {ROW_TEXT("a"), ROW_INTEGER(100)},
    {ROW_TEXT("something long"), ROW_INTEGER(7)},
    {ROW_TEXT("\n"), {.type = QUERY_NULL}},
};

static void put_rows(struct row_table *table, size_t count)
{
    struct query_receiver receiver = row_table_receiver(table);

    CHECK_EQUAL(receiver.begin(receiver.context, names, 2), 0);
    for (size_t i = 0; i < count; i++)
        CHECK_EQUAL(receiver.row(receiver.context, rows[i % 3], 2), 0);
    CHECK_EQUAL(receiver.end(receiver.context), 0);
}

static void columns_are_aligned(void)
{
    struct row_table table;

    row_table_init(&table, written_rows_begin(), false, 0);
    put_rows(&table, 3);
    put_rows(&table, 0);
    row_table_deinit(&table);
    CHECK_TEXT(written_rows_end(),
               "name               n\na                100\nsomething long     7\n\\n              NULL\n\nname  n\n");
}

static void cells_have_lines_around_them(void)
{
    struct row_table table;

    row_table_init(&table, written_rows_begin(), true, 0);
    put_rows(&table, 2);
    row_table_deinit(&table);
    CHECK_TEXT(written_rows_end(), "┌────────────────┬─────┐\n"
                                   "│ name           │   n │\n"
                                   "├────────────────┼─────┤\n"
                                   "│ a              │ 100 │\n"
                                   "│ something long │   7 │\n"
                                   "└────────────────┴─────┘\n");
}

static void wide_cells_are_cut_to_the_screen(void)
{
    struct row_table table;

    row_table_init(&table, written_rows_begin(), true, 20);
    put_rows(&table, 2);
    row_table_deinit(&table);
    CHECK_TEXT(written_rows_end(), "┌────────────┬─────┐\n"
                                   "│ name       │   n │\n"
                                   "├────────────┼─────┤\n"
                                   "│ a          │ 100 │\n"
                                   "│ something… │   7 │\n"
                                   "└────────────┴─────┘\n");
}

/* The first rows decide about widths; then memory does not grow, and no row is missing. */
static void many_rows_go_through(void)
{
    struct row_table table;
    size_t lines = 0;

    row_table_init(&table, written_rows_begin(), false, 0);
    put_rows(&table, 30000);
    CHECK(table.cell_capacity <= 4096);
    row_table_deinit(&table);
    for (const char *written = written_rows_end(); *written != '\0'; written++)
        lines += *written == '\n';
    CHECK_EQUAL(lines, 30001);
}

static const struct check_case cases[] = {
    CHECK_CASE(columns_are_aligned),
    CHECK_CASE(cells_have_lines_around_them),
    CHECK_CASE(wide_cells_are_cut_to_the_screen),
    CHECK_CASE(many_rows_go_through),
};

CHECK_MAIN(cases)
