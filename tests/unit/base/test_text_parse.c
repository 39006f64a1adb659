/* SPDX-License-Identifier: MIT */
#include "base/text_parse.h"

#include "support/check.h"

#include <errno.h>

#define ROUNDS 100000

static uint64_t parsed(int (*parse)(const char *, size_t, uint64_t *), const char *text)
{
    uint64_t value = 0;

    CHECK_EQUAL(parse(text, strlen(text), &value), 0);
    return value;
}

static int error_of(int (*parse)(const char *, size_t, uint64_t *), const char *text)
{
    uint64_t value = 4711;
    int result = parse(text, strlen(text), &value);

    CHECK_EQUAL(value, 4711);
    return result;
}

static void numbers_up_to_the_largest_are_read(void)
{
    CHECK_EQUAL(parsed(text_parse_decimal, "0"), 0);
    CHECK_EQUAL(parsed(text_parse_decimal, "00012"), 12);
    CHECK_EQUAL(parsed(text_parse_decimal, "18446744073709551615"), UINT64_MAX);
    CHECK_EQUAL(parsed(text_parse_number, "0x10"), 16);
    CHECK_EQUAL(parsed(text_parse_number, "0XfF"), 255);
    CHECK_EQUAL(parsed(text_parse_number, "10"), 10);
    CHECK_EQUAL(parsed(text_parse_number, "0"), 0);
}

static void larger_numbers_are_out_of_range(void)
{
    CHECK_EQUAL(error_of(text_parse_decimal, "18446744073709551616"), -ERANGE);
    CHECK_EQUAL(error_of(text_parse_decimal, "184467440737095516150"), -ERANGE);
    CHECK_EQUAL(error_of(text_parse_decimal, "99999999999999999999999999999"), -ERANGE);
}

static void anything_else_is_invalid(void)
{
    static const char *const texts[] = {
        "", " 1", "1 ", "-1", "+1", "1.5", "0x", "0xg", "x1", "12a", "99999999999999999999x"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        CHECK_EQUAL(error_of(text_parse_number, texts[i]), -EINVAL);
    CHECK_EQUAL(error_of(text_parse_decimal, "0x1"), -EINVAL);
}

static void only_the_given_characters_are_read(void)
{
    uint64_t value = 0;

    CHECK_EQUAL(text_parse_number("1234", 2, &value), 0);
    CHECK_EQUAL(value, 12);
    CHECK_EQUAL(text_parse_number("0x12", 1, &value), 0);
    CHECK_EQUAL(value, 0);
    CHECK_EQUAL(text_parse_number("0x12", 3, &value), 0);
    CHECK_EQUAL(value, 1);
}

static int parse_thousands(const char *text, size_t length, uint64_t *value_out)
{
    return text_parse_scaled(text, length, 1000, value_out);
}

static void parts_behind_a_point_are_scaled(void)
{
    CHECK_EQUAL(parsed(parse_thousands, "0"), 0);
    CHECK_EQUAL(parsed(parse_thousands, "12"), 12000);
    CHECK_EQUAL(parsed(parse_thousands, "1.5"), 1500);
    CHECK_EQUAL(parsed(parse_thousands, "0.0259"), 25);
    CHECK_EQUAL(error_of(parse_thousands, "18446744073709552"), -ERANGE);
    CHECK_EQUAL(error_of(parse_thousands, "18446744073709551.616"), -ERANGE);
    CHECK_EQUAL(parsed(parse_thousands, "18446744073709551.615"), UINT64_MAX);
    for (size_t i = 0; i < 6; i++)
        CHECK_EQUAL(error_of(parse_thousands, (const char *[]){"", ".", "1.", ".5", "1.5.5", "1.x"}[i]), -EINVAL);
}

static void durations_have_units(void)
{
    CHECK_EQUAL(parsed(text_parse_duration, "7ns"), 7);
    CHECK_EQUAL(parsed(text_parse_duration, "1.5us"), 1500);
    CHECK_EQUAL(parsed(text_parse_duration, "50ms"), 50000000);
    CHECK_EQUAL(parsed(text_parse_duration, "2s"), 2000000000);
    CHECK_EQUAL(parsed(text_parse_duration, "0.5m"), 30000000000);
    CHECK_EQUAL(error_of(text_parse_duration, "999999999999s"), -ERANGE);
    for (size_t i = 0; i < 7; i++)
        CHECK_EQUAL(error_of(text_parse_duration, (const char *[]){"", "5", "s", "5h", "5mss", "-5s", "5 s"}[i]),
                    -EINVAL);
}

static void texts_are_equal_in_all_characters_and_their_length(void)
{
    CHECK(text_equal("", ""));
    CHECK(text_equal("abc", "abc"));
    CHECK(!text_equal("abc", "abd"));
    CHECK(!text_equal("abc", "ab"));
    CHECK(!text_equal("", "a"));
}

static void what_libc_wrote_is_read_back(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t value = ((uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand()) >> rand() % 64;
        char text[32];

        sprintf(text, "%" PRIu64, value);
        CHECK_EQUAL(parsed(text_parse_decimal, text), value);
        sprintf(text, "%#" PRIx64, value);
        CHECK_EQUAL(parsed(text_parse_number, text), value);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(numbers_up_to_the_largest_are_read),
    CHECK_CASE(larger_numbers_are_out_of_range),
    CHECK_CASE(anything_else_is_invalid),
    CHECK_CASE(only_the_given_characters_are_read),
    CHECK_CASE(what_libc_wrote_is_read_back),
    CHECK_CASE(parts_behind_a_point_are_scaled),
    CHECK_CASE(durations_have_units),
    CHECK_CASE(texts_are_equal_in_all_characters_and_their_length),
};

CHECK_MAIN(cases)
