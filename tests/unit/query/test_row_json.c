/* SPDX-License-Identifier: MIT */
#include "query/row_formats.h"

#include "support/check.h"
#include "support/written_rows.h"

static void statements_are_arrays_of_objects(void)
{
    static const char *const names[] = {"a", "say \"b\""};
    static const struct query_value rows[][2] = {
        {ROW_TEXT("x\ty\\"), ROW_INTEGER(9007199254740993)},
        {{.type = QUERY_NULL}, {.type = QUERY_REAL, .real = 0.5}},
        {{.type = QUERY_REAL, .real = __builtin_inf()}, {.type = QUERY_BLOB, .bytes = "\x01\xff", .size_bytes = 2}},
    };
    struct query_receiver receiver;
    struct row_json json;

    row_json_init(&json, written_rows_begin());
    receiver = row_json_receiver(&json);
    CHECK_EQUAL(receiver.begin(receiver.context, names, 2), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_EQUAL(receiver.row(receiver.context, rows[i], 2), 0);
    CHECK_EQUAL(receiver.end(receiver.context), 0);
    CHECK_EQUAL(receiver.begin(receiver.context, names, 1), 0);
    CHECK_EQUAL(receiver.end(receiver.context), 0);
    row_json_deinit(&json);
    CHECK_TEXT(written_rows_end(),
               "[\n{\"a\": \"x\\u0009y\\\\\", \"say \\\"b\\\"\": 9007199254740993},\n"
               "{\"a\": null, \"say \\\"b\\\"\": 0.5},\n{\"a\": null, \"say \\\"b\\\"\": \"01ff\"}\n]\n[]\n");
}

static const struct check_case cases[] = {
    CHECK_CASE(statements_are_arrays_of_objects),
};

CHECK_MAIN(cases)
