/* SPDX-License-Identifier: MIT */
#include "query/row_table.h"

#include "support/check.h"

static char *written;
static size_t written_bytes;
static FILE *stream;

#define TEXT(text)                                                                                                     \
    {                                                                                                                  \
        .type = QUERY_TEXT, .bytes = text, .size_bytes = sizeof(text) - 1                                              \
    }
#define INTEGER(number)                                                                                                \
    {                                                                                                                  \
        .type = QUERY_INTEGER, .integer = number                                                                       \
    }

static void begin(void)
{
    stream = open_memstream(&written, &written_bytes);
}

static void check_written(const char *expected)
{
    fclose(stream);
    CHECK_TEXT(written, expected);
    free(written);
}

static const char *const names[] = {"name", "n"};
static const struct query_value rows[][2] = {
    {TEXT("a"), INTEGER(100)},
    {TEXT("something long"), INTEGER(7)},
    {TEXT("\n"), {.type = QUERY_NULL}},
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

    begin();
    row_table_init(&table, stream, false, 0);
    put_rows(&table, 3);
    put_rows(&table, 0);
    row_table_deinit(&table);
    check_written(
        "name               n\na                100\nsomething long     7\n\\n              NULL\n\nname  n\n");
}

static void cells_have_lines_around_them(void)
{
    struct row_table table;

    begin();
    row_table_init(&table, stream, true, 0);
    put_rows(&table, 2);
    row_table_deinit(&table);
    check_written("┌────────────────┬─────┐\n"
                  "│ name           │   n │\n"
                  "├────────────────┼─────┤\n"
                  "│ a              │ 100 │\n"
                  "│ something long │   7 │\n"
                  "└────────────────┴─────┘\n");
}

static void wide_cells_are_cut_to_the_screen(void)
{
    struct row_table table;

    begin();
    row_table_init(&table, stream, true, 20);
    put_rows(&table, 2);
    row_table_deinit(&table);
    check_written("┌────────────┬─────┐\n"
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

    begin();
    row_table_init(&table, stream, false, 0);
    put_rows(&table, 30000);
    CHECK(table.cell_capacity <= 4096);
    row_table_deinit(&table);
    fclose(stream);
    for (size_t i = 0; i < written_bytes; i++)
        lines += written[i] == '\n';
    CHECK_EQUAL(lines, 30001);
    free(written);
}

static const struct check_case cases[] = {
    CHECK_CASE(columns_are_aligned),
    CHECK_CASE(cells_have_lines_around_them),
    CHECK_CASE(wide_cells_are_cut_to_the_screen),
    CHECK_CASE(many_rows_go_through),
};

CHECK_MAIN(cases)
