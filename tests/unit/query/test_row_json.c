/* SPDX-License-Identifier: MIT */
#include "query/row_json.h"

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

static void statements_are_arrays_of_objects(void)
{
    static const char *const names[] = {"a", "say \"b\""};
    static const struct query_value rows[][2] = {
        {TEXT("x\ty\\"), INTEGER(9007199254740993)},
        {{.type = QUERY_NULL}, {.type = QUERY_REAL, .real = 0.5}},
        {{.type = QUERY_REAL, .real = __builtin_inf()}, {.type = QUERY_BLOB, .bytes = "\x01\xff", .size_bytes = 2}},
    };
    struct query_receiver receiver;
    struct row_json json;

    begin();
    row_json_init(&json, stream);
    receiver = row_json_receiver(&json);
    CHECK_EQUAL(receiver.begin(receiver.context, names, 2), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_EQUAL(receiver.row(receiver.context, rows[i], 2), 0);
    CHECK_EQUAL(receiver.end(receiver.context), 0);
    CHECK_EQUAL(receiver.begin(receiver.context, names, 1), 0);
    CHECK_EQUAL(receiver.end(receiver.context), 0);
    row_json_deinit(&json);
    check_written("[\n{\"a\": \"x\\u0009y\\\\\", \"say \\\"b\\\"\": 9007199254740993},\n"
                  "{\"a\": null, \"say \\\"b\\\"\": 0.5},\n{\"a\": null, \"say \\\"b\\\"\": \"01ff\"}\n]\n[]\n");
}

static const struct check_case cases[] = {
    CHECK_CASE(statements_are_arrays_of_objects),
};

CHECK_MAIN(cases)
