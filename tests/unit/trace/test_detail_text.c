/* SPDX-License-Identifier: MIT */
#include "trace/detail_text.h"

#include "support/check.h"
#include "support/random.h"

#include <errno.h>

static char shown[DETAIL_TEXT_BYTES];

static const char *show(enum detail_type type, unsigned flags, const void *data, size_t data_bytes)
{
    const struct detail_value value = {(uint8_t)type, (uint8_t)flags, (uint16_t)data_bytes};
    struct detail_text text;

    detail_text_init(&text, shown, sizeof(shown));
    detail_text_put(&text, &value, data);
    return shown;
}

static const char *show_number(enum detail_type type, uint64_t number)
{
    return show(type, 0, &number, detail_type_bytes(type));
}

static void numbers_are_shown_by_their_type(void)
{
    CHECK_TEXT(show_number(DETAIL_TYPE_I8, 0xff), "-1");
    CHECK_TEXT(show_number(DETAIL_TYPE_U8, 0xff), "255");
    CHECK_TEXT(show_number(DETAIL_TYPE_I16, 0x8000), "-32768");
    CHECK_TEXT(show_number(DETAIL_TYPE_I32, 0xfffffffe), "-2");
    CHECK_TEXT(show_number(DETAIL_TYPE_U32, 0xfffffffe), "4294967294");
    CHECK_TEXT(show_number(DETAIL_TYPE_I64, 1ull << 63), "-9223372036854775808");
    CHECK_TEXT(show_number(DETAIL_TYPE_U64, UINT64_MAX), "18446744073709551615");
    CHECK_TEXT(show_number(DETAIL_TYPE_HEX, 0), "0x0");
    CHECK_TEXT(show_number(DETAIL_TYPE_POINTER, 0), "NULL");
    CHECK_TEXT(show_number(DETAIL_TYPE_POINTER, 0x7fff1234), "0x7fff1234");
    CHECK_TEXT(show_number(DETAIL_TYPE_TRUTH, 2), "true");
    CHECK_TEXT(show_number(DETAIL_TYPE_TRUTH, 0), "false");
    CHECK_TEXT(show_number(DETAIL_TYPE_DESCRIPTOR, 3), "3");
    CHECK_TEXT(show_number(DETAIL_TYPE_DESCRIPTOR, (uint32_t)-100), "AT_FDCWD");
    CHECK_TEXT(show_number(DETAIL_TYPE_CHARACTER, 'a'), "'a'");
    CHECK_TEXT(show_number(DETAIL_TYPE_CHARACTER, '\''), "'\\''");
    CHECK_TEXT(show_number(DETAIL_TYPE_CHARACTER, 0), "'\\x00'");
    CHECK_TEXT(show_number(DETAIL_TYPE_ERRNO, ENOENT), "ENOENT");
    CHECK_TEXT(show_number(DETAIL_TYPE_ERRNO, 9999), "errno 9999");
}

static void floats_have_as_few_digits_as_tell_them(void)
{
    const double doubles[] = {0.1, 1e300, -2, 1.0 / 3};
    const float single = 0.1f;

    CHECK_TEXT(show(DETAIL_TYPE_DOUBLE, 0, &doubles[0], 8), "0.1");
    CHECK_TEXT(show(DETAIL_TYPE_DOUBLE, 0, &doubles[1], 8), "1e+300");
    CHECK_TEXT(show(DETAIL_TYPE_DOUBLE, 0, &doubles[2], 8), "-2");
    CHECK_TEXT(show(DETAIL_TYPE_DOUBLE, 0, &doubles[3], 8), "0.3333333333333333");
    CHECK_TEXT(show(DETAIL_TYPE_FLOAT, 0, &single, 4), "0.1");
    CHECK(strstr(show_number(DETAIL_TYPE_DOUBLE, 0x7ff8000000000000), "nan") != NULL);
}

static void strings_are_quoted_and_escaped(void)
{
    CHECK_TEXT(show(DETAIL_TYPE_STRING, 0, "", 0), "\"\"");
    CHECK_TEXT(show(DETAIL_TYPE_STRING, 0, "a\n\t\"b\\c", 7), "\"a\\n\\t\\\"b\\\\c\"");
    CHECK_TEXT(show(DETAIL_TYPE_STRING, 0, "\033[1m\177\x01", 6), "\"\\x1b[1m\\x7f\\x01\"");
    CHECK_TEXT(show(DETAIL_TYPE_BUFFER, 0, "a\0b", 3), "\"a\\x00b\"");
    CHECK_TEXT(show(DETAIL_TYPE_STRING, DETAIL_VALUE_CLIPPED, "ab", 2), "\"ab\"...");
    /* What is UTF-8 stays, unless it moves cursors; what is not is told byte by byte. */
    CHECK_TEXT(show(DETAIL_TYPE_STRING, 0, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9),
               "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
    CHECK_TEXT(show(DETAIL_TYPE_STRING, 0, "\xc2\x9b", 2), "\"\\xc2\\x9b\"");
    CHECK_TEXT(show(DETAIL_TYPE_STRING, 0, "\xc3(", 2), "\"\\xc3(\"");
    CHECK_TEXT(show(DETAIL_TYPE_STRING, 0, "\xe2\x82", 2), "\"\\xe2\\x82\"");
    CHECK_TEXT(show(DETAIL_TYPE_STRING, 0, "\xed\xa0\x80\xff", 4), "\"\\xed\\xa0\\x80\\xff\"");
}

static void what_is_missing_is_told(void)
{
    const uint64_t address = 0x10, none = 0;

    CHECK_TEXT(show(DETAIL_TYPE_STRING, DETAIL_VALUE_UNREADABLE, &address, 8), "0x10 (unreadable)");
    CHECK_TEXT(show(DETAIL_TYPE_STRING, DETAIL_VALUE_UNREADABLE, &none, 8), "NULL");
    CHECK_TEXT(show(DETAIL_TYPE_DOUBLE, DETAIL_VALUE_UNREADABLE, "", 0), "?");
    CHECK_TEXT(show(DETAIL_TYPE_STRING, DETAIL_VALUE_LEFT_OUT, "", 0), "(no room)");
    CHECK_TEXT(show(DETAIL_TYPE_SKIPPED, 0, "", 0), "_");
}

static void values_follow_each_other(void)
{
    static const uint8_t bytes[] = {DETAIL_TYPE_STRING,
                                    0,
                                    2,
                                    0,
                                    'o',
                                    'k',
                                    DETAIL_TYPE_I32,
                                    0,
                                    4,
                                    0,
                                    0xff,
                                    0xff,
                                    0xff,
                                    0xff,
                                    DETAIL_TYPE_ERRNO,
                                    0,
                                    4,
                                    0,
                                    ENOENT,
                                    0,
                                    0,
                                    0};
    struct detail_text text;

    detail_text_init(&text, shown, sizeof(shown));
    detail_text_put_arguments(&text, (struct detail_values){bytes, 14}, NULL);
    CHECK_TEXT(shown, "\"ok\", -1");
    detail_text_init(&text, shown, sizeof(shown));
    detail_text_put_result(&text, (struct detail_values){bytes + 6, 16}, NULL);
    CHECK_TEXT(shown, "-1 ENOENT");
    detail_text_init(&text, shown, sizeof(shown));
    detail_text_put_arguments(&text, (struct detail_values){bytes, 0}, NULL);
    CHECK_TEXT(shown, "");
}

static const char *name_of(const void *context, unsigned which)
{
    static const char *const names[] = {"text", "", "level"};

    (void)context;
    return which < 3 ? names[which] : NULL;
}

static const char *value_of(const void *context, unsigned which, int64_t value)
{
    (void)context;
    return which == 2 && value == -1 ? "LOWEST" : which == DETAIL_RESULT && value == 200 ? "DONE" : NULL;
}

static void arguments_and_values_may_have_names(void)
{
    static const uint8_t bytes[] = {DETAIL_TYPE_STRING, 0, 1, 0, 'x',  DETAIL_TYPE_I8, 0, 1, 0, 0xff,
                                    DETAIL_TYPE_I8,     0, 1, 0, 0xff, DETAIL_TYPE_I8, 0, 1, 0, 0xff};
    static const uint8_t result[] = {DETAIL_TYPE_U8, 0, 1, 0, 200};
    struct detail_naming naming = {name_of, value_of, true, NULL};
    struct detail_text text;

    detail_text_init(&text, shown, sizeof(shown));
    detail_text_put_arguments(&text, (struct detail_values){bytes, sizeof(bytes)}, &naming);
    CHECK_TEXT(shown, "text=\"x\", -1, level=LOWEST, -1, ...");
    detail_text_init(&text, shown, sizeof(shown));
    detail_text_put_arguments(&text, (struct detail_values){bytes, 0}, &naming);
    CHECK_TEXT(shown, "...");
    detail_text_init(&text, shown, sizeof(shown));
    detail_text_put_result(&text, (struct detail_values){result, sizeof(result)}, &naming);
    CHECK_TEXT(shown, "DONE");
}

/* However small the room is, and whatever stands there. */
static void text_ends_where_its_room_does(void)
{
    uint8_t bytes[512];
    struct random random;
    struct detail_text text;

    random_init(&random, 3);
    for (unsigned round = 0; round < 5000; round++) {
        size_t room = 1 + random_below(&random, 200);

        random_fill(&random, bytes, sizeof(bytes));
        for (size_t i = 0; i + 4 <= sizeof(bytes); i += 4 + bytes[i + 2])
            memcpy(bytes + i,
                   (const uint8_t[]){(uint8_t)random_below(&random, DETAIL_TYPES), (uint8_t)random_below(&random, 8),
                                     (uint8_t)random_below(&random, 40), 0},
                   4);
        memset(shown, 'x', sizeof(shown));
        detail_text_init(&text, shown, room);
        detail_text_put_arguments(&text, (struct detail_values){bytes, sizeof(bytes)}, NULL);
        CHECK(text.used < room && shown[text.used] == '\0' && shown[room] == 'x');
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(numbers_are_shown_by_their_type), CHECK_CASE(floats_have_as_few_digits_as_tell_them),
    CHECK_CASE(strings_are_quoted_and_escaped),  CHECK_CASE(what_is_missing_is_told),
    CHECK_CASE(values_follow_each_other),        CHECK_CASE(arguments_and_values_may_have_names),
    CHECK_CASE(text_ends_where_its_room_does),
};

CHECK_MAIN(cases)
