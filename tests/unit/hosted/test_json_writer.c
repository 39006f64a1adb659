/* SPDX-License-Identifier: MIT */
#include "hosted/json_writer.h"

#include "support/check.h"

#include <math.h>
#include <stdlib.h>

static char *text;
static size_t size;
static struct json_writer json;

static void begin(enum json_layout layout)
{
    json = (struct json_writer){.stream = open_memstream(&text, &size), .layout = layout};
}

static void expect(const char *expected)
{
    fclose(json.stream);
    CHECK_TEXT(text, expected);
    free(text);
}

static void members_have_commas_between_them(void)
{
    begin(JSON_LINES);
    json_writer_open(&json, NULL, '{');
    json_writer_text(&json, "text", "a \"b\"\n");
    json_writer_count(&json, "count", UINT64_MAX);
    json_writer_signed(&json, "signed", -5);
    json_writer_number(&json, "number", 1.25);
    json_writer_bool(&json, "bool", true);
    json_writer_null(&json, "null");
    json_writer_address(&json, "address", 0x12ab);
    json_writer_close(&json, '}');
    expect("{\n \"text\": \"a \\\"b\\\"\\u000a\",\n \"count\": 18446744073709551615,\n \"signed\": -5,\n"
           " \"number\": 1.2,\n \"bool\": true,\n \"null\": null,\n \"address\": \"0x12ab\"\n}\n");
}

static void lists_and_objects_may_be_inside_of_others(void)
{
    begin(JSON_LINES);
    json_writer_open(&json, NULL, '{');
    json_writer_open(&json, "none", '[');
    json_writer_close(&json, ']');
    json_writer_open(&json, "some", '[');
    json_writer_count(&json, NULL, 1);
    json_writer_open(&json, NULL, '{');
    json_writer_close(&json, '}');
    json_writer_close(&json, ']');
    json_writer_close(&json, '}');
    expect("{\n \"none\": [],\n \"some\": [\n  1,\n  {}\n ]\n}\n");
}

/* JSON has no word for it. */
static void what_is_no_number_is_null(void)
{
    begin(JSON_LINES);
    json_writer_open(&json, NULL, '[');
    json_writer_number(&json, NULL, NAN);
    json_writer_number(&json, NULL, INFINITY);
    json_writer_close(&json, ']');
    expect("[\n null,\n null\n]\n");
}

static void put_some(void)
{
    json_writer_open(&json, NULL, '{');
    json_writer_text(&json, "text", NULL);
    json_writer_open(&json, "list", '[');
    for (uint64_t i = 1; i < 3; i++) {
        json_writer_break(&json, 2);
        json_writer_count(&json, NULL, i);
    }
    json_writer_break(&json, 0);
    json_writer_close(&json, ']');
    json_writer_real(&json, "real", 0.1);
    json_writer_bytes(&json, "bytes", "\x48\xcb", 2);
    json_writer_close(&json, '}');
}

static void lines_may_be_few(void)
{
    begin(JSON_SPACED);
    put_some();
    expect("{\"text\": null, \"list\": [\n  1,\n  2\n], \"real\": 0.10000000000000001, \"bytes\": \"48cb\"}");
    begin(JSON_DENSE);
    put_some();
    expect("{\"text\":null,\"list\":[\n  1,\n  2\n],\"real\":0.10000000000000001,\"bytes\":\"48cb\"}");
}

static void a_bracket_may_begin_a_line(void)
{
    begin(JSON_SPACED);
    json_writer_open(&json, NULL, '{');
    json_writer_open_line(&json, 2, "list", '[');
    json_writer_open_line(&json, 4, NULL, '{');
    json_writer_close(&json, '}');
    json_writer_open_line(&json, 4, NULL, '{');
    json_writer_close(&json, '}');
    json_writer_close(&json, ']');
    json_writer_close(&json, '}');
    expect("{\n  \"list\": [\n    {},\n    {}]}");
}

static void a_stream_may_have_many_documents(void)
{
    begin(JSON_DENSE);
    for (uint64_t i = 0; i < 2; i++) {
        json_writer_open(&json, NULL, '[');
        json_writer_count(&json, NULL, i);
        json_writer_close(&json, ']');
    }
    expect("[0][1]");
}

static const struct check_case cases[] = {
    CHECK_CASE(members_have_commas_between_them), CHECK_CASE(lists_and_objects_may_be_inside_of_others),
    CHECK_CASE(what_is_no_number_is_null),        CHECK_CASE(lines_may_be_few),
    CHECK_CASE(a_bracket_may_begin_a_line),       CHECK_CASE(a_stream_may_have_many_documents),
};

CHECK_MAIN(cases)
