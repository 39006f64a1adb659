/* SPDX-License-Identifier: MIT */
#include "report/json_page.h"

#include "support/check.h"

#include <math.h>
#include <stdlib.h>

static char *text;
static size_t size;
static struct json_page page;

static void begin(void)
{
    page = (struct json_page){.stream = open_memstream(&text, &size)};
}

static void expect(const char *expected)
{
    fclose(page.stream);
    CHECK_TEXT(text, expected);
    free(text);
}

static void members_have_commas_between_them(void)
{
    begin();
    json_page_open(&page, NULL, '{');
    json_page_text(&page, "text", "a \"b\"\n");
    json_page_count(&page, "count", UINT64_MAX);
    json_page_signed(&page, "signed", -5);
    json_page_number(&page, "number", 1.25);
    json_page_bool(&page, "bool", true);
    json_page_null(&page, "null");
    json_page_address(&page, "address", 0x12ab);
    json_page_close(&page, '}');
    expect("{\n \"text\": \"a \\\"b\\\"\\u000a\",\n \"count\": 18446744073709551615,\n \"signed\": -5,\n"
           " \"number\": 1.2,\n \"bool\": true,\n \"null\": null,\n \"address\": \"0x12ab\"\n}\n");
}

static void lists_and_objects_may_be_inside_of_others(void)
{
    begin();
    json_page_open(&page, NULL, '{');
    json_page_open(&page, "none", '[');
    json_page_close(&page, ']');
    json_page_open(&page, "some", '[');
    json_page_count(&page, NULL, 1);
    json_page_open(&page, NULL, '{');
    json_page_close(&page, '}');
    json_page_close(&page, ']');
    json_page_close(&page, '}');
    expect("{\n \"none\": [],\n \"some\": [\n  1,\n  {}\n ]\n}\n");
}

/* JSON has no word for it. */
static void what_is_no_number_is_null(void)
{
    begin();
    json_page_open(&page, NULL, '[');
    json_page_number(&page, NULL, NAN);
    json_page_number(&page, NULL, INFINITY);
    json_page_close(&page, ']');
    expect("[\n null,\n null\n]\n");
}

static const struct check_case cases[] = {
    CHECK_CASE(members_have_commas_between_them),
    CHECK_CASE(lists_and_objects_may_be_inside_of_others),
    CHECK_CASE(what_is_no_number_is_null),
};

CHECK_MAIN(cases)
