/* SPDX-License-Identifier: MIT */
#include "query/row_formats.h"

#include "support/check.h"

static char shown[256];

static size_t show(const struct query_value *value)
{
    struct row_text text = {.used = 0};
    size_t width = 0;

    CHECK_EQUAL(row_cell_add(&text, value, &width), 0);
    snprintf(shown, sizeof(shown), "%.*s", (int)text.used, text.bytes);
    row_text_deinit(&text);
    return width;
}

static size_t show_text(const char *bytes, size_t count)
{
    return show(&(struct query_value){.type = QUERY_TEXT, .bytes = bytes, .size_bytes = count});
}

static void values_are_written_by_their_type(void)
{
    CHECK_EQUAL(show(&(struct query_value){.type = QUERY_NULL}), 4);
    CHECK_TEXT(shown, "NULL");
    show(&(struct query_value){.type = QUERY_INTEGER, .integer = INT64_MIN});
    CHECK_TEXT(shown, "-9223372036854775808");
    show(&(struct query_value){.type = QUERY_REAL, .real = 0.1});
    CHECK_TEXT(shown, "0.1");
    CHECK_EQUAL(show(&(struct query_value){.type = QUERY_BLOB, .bytes = "\x00\xff", .size_bytes = 2}), 7);
    CHECK_TEXT(shown, "x'00ff'");
}

static void what_moves_a_cursor_is_escaped(void)
{
    CHECK_EQUAL(show_text("a\nb\tc\x1b[2J\x7f", 10), 18);
    CHECK_TEXT(shown, "a\\nb\\tc\\x1b[2J\\x7f");
    show_text("\xc2\x9b"
              "1m",
              4);
    CHECK_TEXT(shown, "\\u009b1m");
    show_text("\xff\xc3", 2);
    CHECK_TEXT(shown, "\\xff\\xc3");
    show_text("a\0b", 3);
    CHECK_TEXT(shown, "a\\x00b");
}

static void widths_are_those_on_a_terminal(void)
{
    CHECK_EQUAL(show_text("Gr\xc3\xbc\xc3\x9f"
                          "e",
                          7),
                5);
    CHECK_EQUAL(show_text("\xe6\x97\xa5\xe6\x9c\xac", 6), 4);
    CHECK_EQUAL(show_text("e\xcc\x81", 3), 1);
}

static void a_part_fits(void)
{
    size_t width;

    CHECK_EQUAL(row_cell_fit("abcdef", 6, 4, &width), 4);
    CHECK_EQUAL(width, 4);
    CHECK_EQUAL(row_cell_fit("\xe6\x97\xa5\xe6\x9c\xac", 6, 3, &width), 3);
    CHECK_EQUAL(width, 2);
    CHECK_EQUAL(row_cell_fit("ab", 2, 10, &width), 2);
}

static const struct check_case cases[] = {
    CHECK_CASE(values_are_written_by_their_type),
    CHECK_CASE(what_moves_a_cursor_is_escaped),
    CHECK_CASE(widths_are_those_on_a_terminal),
    CHECK_CASE(a_part_fits),
};

CHECK_MAIN(cases)
