/* SPDX-License-Identifier: MIT */
#include "query/row_csv.h"

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

static void values_are_quoted_where_they_must_be(void)
{
    static const char *const names[] = {"a", "b,c"};
    static const struct query_value rows[][2] = {
        {TEXT("x"), INTEGER(-5)},
        {TEXT("say \"no\""), {.type = QUERY_NULL}},
        {TEXT(""), {.type = QUERY_REAL, .real = 2.5}},
        {TEXT("two\nlines"), {.type = QUERY_BLOB, .bytes = "\x01\xff", .size_bytes = 2}},
        {TEXT("\033[1m"), TEXT(" a ")},
    };
    struct query_receiver receiver;

    begin();
    receiver = row_csv_receiver(stream);
    CHECK_EQUAL(receiver.begin(receiver.context, names, 2), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK_EQUAL(receiver.row(receiver.context, rows[i], 2), 0);
    CHECK_EQUAL(receiver.end(receiver.context), 0);
    check_written("a,\"b,c\"\nx,-5\n\"say \"\"no\"\"\",\n\"\",2.5\n\"two\nlines\",01ff\n\\x1b[1m,\" a \"\n");
}

static const struct check_case cases[] = {
    CHECK_CASE(values_are_quoted_where_they_must_be),
};

CHECK_MAIN(cases)
