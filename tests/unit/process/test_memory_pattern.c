/* SPDX-License-Identifier: MIT */
#include "process/memory_pattern.h"

#include "support/check.h"
#include "support/random.h"

#include <errno.h>

static struct memory_pattern pattern;

static int parse(const char *text)
{
    return memory_pattern_parse(text, strlen(text), &pattern);
}

static void texts_become_bytes_and_masks(void)
{
    CHECK_EQUAL(parse("48 8B ?? 0f"), 0);
    CHECK_EQUAL(pattern.size_bytes, 4);
    CHECK(memcmp(pattern.bytes, "\x48\x8b\x00\x0f", 4) == 0);
    CHECK(memcmp(pattern.masks, "\xff\xff\x00\xff", 4) == 0);
    CHECK_EQUAL(pattern.anchor, 0);
    CHECK_EQUAL(pattern.anchor_bytes, 2);
    CHECK_EQUAL(parse(" 4?5a?3 "), 0);
    CHECK(memcmp(pattern.bytes, "\x40\x5a\x03", 3) == 0);
    CHECK(memcmp(pattern.masks, "\xf0\xff\x0f", 3) == 0);
    CHECK_EQUAL(pattern.anchor, 1);
    CHECK_EQUAL(parse("13 37 42 : ff 0f 00"), 0);
    CHECK(memcmp(pattern.bytes, "\x13\x07\x00", 3) == 0);
    CHECK(memcmp(pattern.masks, "\xff\x0f\x00", 3) == 0);
}

static void what_makes_no_sense_is_refused(void)
{
    static const char *const texts[] = {"",     " ",     "4",        "4 8",      "48 8",       "4g",      "48 :",
                                        ": 48", "48:zz", "48:ff:ff", "48:ff ff", "48 8b : ff", "48 : f?", "0x48"};
    char text[2 * MEMORY_PATTERN_BYTES_MAX + 3];

    for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        CHECK_EQUAL(parse(texts[i]), -EINVAL);
    CHECK_EQUAL(parse("?? ??"), -ENODATA);
    CHECK_EQUAL(parse("48 8b : 00 00"), -ENODATA);
    memset(text, 'a', sizeof(text) - 1);
    CHECK_EQUAL(memory_pattern_parse(text, 2 * MEMORY_PATTERN_BYTES_MAX, &pattern), 0);
    CHECK_EQUAL(memory_pattern_parse(text, 2 * MEMORY_PATTERN_BYTES_MAX + 2, &pattern), -E2BIG);
    CHECK_EQUAL(memory_pattern_of_bytes(text, 0, &pattern), -EINVAL);
    CHECK_EQUAL(memory_pattern_of_bytes(text, MEMORY_PATTERN_BYTES_MAX + 1, &pattern), -E2BIG);
}

static void any_text_is_taken_or_refused(void)
{
    static const char letters[] = "0123456789abcdefABCDEF??  :xg";
    struct random random;
    unsigned good = 0;

    random_init(&random, 3);
    for (unsigned i = 0; i < 200000; i++) {
        char text[24];
        size_t length = random_below(&random, sizeof(text));

        for (size_t j = 0; j < length; j++)
            text[j] = letters[random_below(&random, sizeof(letters) - 1)];
        if (memory_pattern_parse(text, length, &pattern) == 0) {
            good++;
            CHECK(pattern.size_bytes >= 1 && pattern.size_bytes <= length / 2);
            CHECK(pattern.anchor + pattern.anchor_bytes <= pattern.size_bytes);
        }
    }
    CHECK(good > 1000);
}

static size_t find_slowly(const uint8_t *bytes, size_t size_bytes, size_t start)
{
    for (size_t at = start; at + pattern.size_bytes <= size_bytes; at++) {
        size_t i = 0;

        while (i < pattern.size_bytes && (bytes[at + i] & pattern.masks[i]) == pattern.bytes[i])
            i++;
        if (i == pattern.size_bytes)
            return at;
    }
    return size_bytes;
}

static void finds_what_comparing_everywhere_finds(void)
{
    static uint8_t bytes[300];
    struct random random;
    unsigned found = 0;

    random_init(&random, 4);
    for (unsigned i = 0; i < 100000; i++) {
        static const char *const digits[] = {"00", "01", "10", "11", "??", "?1", "0?", "00"};
        size_t size_bytes = random_below(&random, sizeof(bytes) + 1), start = random_below(&random, size_bytes + 5);
        char text[64] = "";
        unsigned count = 1 + (unsigned)random_below(&random, 8);

        for (size_t j = 0; j < size_bytes; j++)
            bytes[j] = (uint8_t)(random_below(&random, 2) << 4 | random_below(&random, 2));
        for (unsigned j = 0; j < count; j++)
            strcat(text, digits[random_below(&random, 8)]);
        if (parse(text) != 0)
            continue;
        CHECK_EQUAL(memory_pattern_find(&pattern, bytes, size_bytes, start), find_slowly(bytes, size_bytes, start));
        found += find_slowly(bytes, size_bytes, start) != size_bytes;
    }
    CHECK(found > 10000);
}

static void long_ones_are_found(void)
{
    static uint8_t bytes[2000];
    struct random random;

    random_init(&random, 5);
    random_fill(&random, bytes, sizeof(bytes));
    for (unsigned i = 0; i < 100; i++) {
        size_t place = random_below(&random, sizeof(bytes) - MEMORY_PATTERN_BYTES_MAX);

        CHECK_EQUAL(memory_pattern_of_bytes(bytes + place, MEMORY_PATTERN_BYTES_MAX, &pattern), 0);
        CHECK_EQUAL(memory_pattern_find(&pattern, bytes, sizeof(bytes), 0), place);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(texts_become_bytes_and_masks), CHECK_CASE(what_makes_no_sense_is_refused),
    CHECK_CASE(any_text_is_taken_or_refused), CHECK_CASE(finds_what_comparing_everywhere_finds),
    CHECK_CASE(long_ones_are_found),
};

CHECK_MAIN(cases)
