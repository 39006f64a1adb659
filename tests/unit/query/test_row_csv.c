/* SPDX-License-Identifier: MIT */
#include "query/row_formats.h"

#include "support/check.h"
#include "support/written_rows.h"

static void values_are_quoted_where_they_must_be(void)
{
    static const char *const names[] = {"a", "b,c"};
    static const struct query_value rows[][2] = {
        {ROW_TEXT("x"), ROW_INTEGER(-5)},
        {ROW_TEXT("say \"no\""), {.type = QUERY_NULL}},
        {ROW_TEXT(""), {.type = QUERY_REAL, .real = 2.5}},
        {ROW_TEXT("two\nlines"), {.type = QUERY_BLOB, .bytes = "\x01\xff", .size_bytes = 2}},
        {ROW_TEXT("\033[1m"), ROW_TEXT(" a ")},
    };
    struct query_receiver receiver;

    receiver = row_csv_receiver(written_rows_begin());
    CHECK_EQUAL(receiver.begin(receiver.context, names, 2), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_EQUAL(receiver.row(receiver.context, rows[i], 2), 0);
    CHECK_EQUAL(receiver.end(receiver.context), 0);
    CHECK_TEXT(written_rows_end(),
               "a,\"b,c\"\nx,-5\n\"say \"\"no\"\"\",\n\"\",2.5\n\"two\nlines\",01ff\n\\x1b[1m,\" a \"\n");
}

static const struct check_case cases[] = {
    CHECK_CASE(values_are_quoted_where_they_must_be),
};

CHECK_MAIN(cases)
