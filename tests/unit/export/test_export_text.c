/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "export/export_text.h"

#include "support/check.h"

#define BAD "\xef\xbf\xbd"

static const char *clean(const char *text)
{
    static char buffer[256];

    CHECK_EQUAL(export_text_clean(buffer, sizeof(buffer), text), strlen(buffer));
    return buffer;
}

static void what_is_utf8_stays_as_it_is(void)
{
    CHECK_TEXT(clean(""), "");
    CHECK_TEXT(clean("std::map<int, \"x\">"), "std::map<int, \"x\">");
    CHECK_TEXT(clean("gr\xc3\xb6\xc3\x9f"
                     "e \xe2\x82\xac \xf0\x9f\x90\x98"),
               "gr\xc3\xb6\xc3\x9f"
               "e \xe2\x82\xac \xf0\x9f\x90\x98");
}

static void what_is_none_is_replaced(void)
{
    CHECK_TEXT(clean("a\xff"
                     "b"),
               "a" BAD "b");
    CHECK_TEXT(clean("\x80\xbf"), BAD BAD);
    /* cut off, and too long for what it says */
    CHECK_TEXT(clean("\xe2\x82"), BAD BAD);
    CHECK_TEXT(clean("\xc0\xaf"
                     "x"),
               BAD BAD "x");
    CHECK_TEXT(clean("\xf8\x88\x80\x80\x80"), BAD BAD BAD BAD BAD);
    /* half of a pair, behind the last character, and what XML does not want */
    CHECK_TEXT(clean("\xed\xa0\x80"), BAD BAD BAD);
    CHECK_TEXT(clean("\xf4\x90\x80\x80"), BAD BAD BAD BAD);
    CHECK_TEXT(clean("\xef\xbf\xbf"), BAD BAD BAD);
}

static void control_characters_are_replaced(void)
{
    CHECK_TEXT(clean("a\nb\tc\033[31m\x7f"), "a" BAD "b" BAD "c" BAD "[31m" BAD);
    CHECK_TEXT(clean("\xc2\x9b"
                     "1m"),
               BAD BAD "1m");
}

static void what_is_too_long_ends_behind_a_whole_character(void)
{
    char buffer[6];

    CHECK_EQUAL(export_text_clean(buffer, sizeof(buffer), "abc\xe2\x82\xac"), 3);
    CHECK_TEXT(buffer, "abc");
    CHECK_EQUAL(export_text_clean(buffer, sizeof(buffer), "abcdefgh"), 5);
    CHECK_TEXT(buffer, "abcde");
}

static void numbers_are_written_in_full(void)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    export_put_number(stream, 0);
    export_put(stream, " ");
    export_put_number(stream, UINT64_MAX);
    export_put(stream, " ");
    export_put_microseconds(stream, 0);
    export_put(stream, " ");
    export_put_microseconds(stream, 1234067);
    export_put(stream, " ");
    export_put_microseconds(stream, UINT64_MAX);
    fclose(stream);
    CHECK_TEXT(text, "0 18446744073709551615 0.000 1234.067 18446744073709551.615");
    free(text);
}

static void last_names_are_behind_the_last_slash(void)
{
    CHECK_TEXT(export_last_name("/usr/lib/libz.so.1"), "libz.so.1");
    CHECK_TEXT(export_last_name("[vdso]"), "[vdso]");
    CHECK_TEXT(export_last_name("a/"), "");
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_utf8_stays_as_it_is),     CHECK_CASE(what_is_none_is_replaced),
    CHECK_CASE(control_characters_are_replaced), CHECK_CASE(what_is_too_long_ends_behind_a_whole_character),
    CHECK_CASE(numbers_are_written_in_full),     CHECK_CASE(last_names_are_behind_the_last_slash),
};

CHECK_MAIN(cases)
