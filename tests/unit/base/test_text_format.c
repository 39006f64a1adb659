/* SPDX-License-Identifier: MIT */
#include "base/text_format.h"

#include "support/check.h"

#define ROUNDS 200000

/* The tested formats are made at random, so the compiler cannot look at them. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"

static char buffer[256];

static const char *formatted(const char *format, ...)
{
    struct text_writer text;
    va_list arguments;

    text_init(&text, buffer, sizeof(buffer));
    va_start(arguments, format);
    text_vformat(&text, format, arguments);
    va_end(arguments);
    CHECK_EQUAL(strlen(buffer), text.used);
    return buffer;
}

static void pieces_are_put_one_behind_the_other(void)
{
    struct text_writer text;

    text_init(&text, buffer, sizeof(buffer));
    text_put_string(&text, "at ");
    text_put_hex(&text, 0xbeef, 8);
    text_put_char(&text, ' ');
    text_put_unsigned(&text, UINT64_MAX);
    text_put_char(&text, ' ');
    text_put_signed(&text, INT64_MIN);
    text_put_bytes(&text, ", done and more", 6);
    text_put_string(&text, NULL);
    CHECK_TEXT(buffer, "at 0000beef 18446744073709551615 -9223372036854775808, done(null)");
    CHECK(!text_truncated(&text));
}

static void truncation_keeps_what_fits_and_is_sticky(void)
{
    struct text_writer text;

    memset(buffer, '#', sizeof(buffer));
    text_init(&text, buffer, 8);
    text_put_string(&text, "12345");
    text_put_string(&text, "6789");
    text_put_char(&text, 'x');
    text_put_string(&text, "");
    text_format(&text, "%5d", 1);
    CHECK_TEXT(buffer, "1234567");
    CHECK(text_truncated(&text));
    CHECK_EQUAL(buffer[8], '#');
    text_init(&text, buffer, 1);
    text_put_string(&text, "");
    CHECK(!text_truncated(&text));
    text_put_char(&text, 'x');
    CHECK(text_truncated(&text));
    CHECK_TEXT(buffer, "");
}

static void a_text_that_just_fits_is_not_truncated(void)
{
    struct text_writer text;

    text_init(&text, buffer, 8);
    text_put_string(&text, "1234567");
    CHECK(!text_truncated(&text));
    CHECK_TEXT(buffer, "1234567");
}

static void format_knows_its_directives(void)
{
    CHECK_TEXT(formatted("plain"), "plain");
    CHECK_TEXT(formatted(""), "");
    CHECK_TEXT(formatted("%s=%d (0x%08lx) %c%%", "key", -5, 0xabcul, 'z'), "key=-5 (0x00000abc) z%");
    CHECK_TEXT(formatted("%p %p", NULL, (void *)0x1234), "0x0 0x1234");
    CHECK_TEXT(formatted("%.*s|%-6s|%6s", 3, "abcdef", "ab", "cd"), "abc|ab    |    cd");
    CHECK_TEXT(formatted("%s", (const char *)NULL), "(null)");
    CHECK_TEXT(formatted("%zu %zx %ld %llu", (size_t)7, (size_t)255, -1l, 9ull), "7 ff -1 9");
    CHECK_TEXT(formatted("%hhx %hd %#x", 0x1ff, 0x18000, 10), "ff -32768 0xa");
}

static void unknown_directives_are_written_as_they_stand(void)
{
    CHECK_TEXT(formatted("%d then %f and %d", 1, 2.0, 3), "1 then %f and %d");
    CHECK_TEXT(formatted("open %"), "open %");
    CHECK_TEXT(formatted("open %-08l"), "open %-08l");
}

/* The bytes that a string is not ended by must not be read. */
static void a_precision_bounds_what_is_read(void)
{
    char *four = malloc(4);

    memcpy(four, "abcd", 4);
    CHECK_TEXT(formatted("%.4s", four), "abcd");
    free(four);
}

static uint64_t random_value(void)
{
    uint64_t value = (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();

    return rand() % 8 == 0 ? 0 : value >> rand() % 64;
}

static void random_spec(char *spec, const char *lengths, const char *conversions)
{
    char *at = spec;

    *at++ = '%';
    if (rand() % 3 == 0)
        *at++ = '-';
    else if (rand() % 3 == 0)
        *at++ = '0';
    if (rand() % 4 == 0 && strchr(conversions, 'd') == NULL)
        *at++ = '#';
    if (rand() % 2 == 0)
        at += sprintf(at, "%d", 1 + rand() % 30);
    if (rand() % 3 == 0)
        at += sprintf(at, ".%d", rand() % 25);
    for (; *lengths != '\0'; lengths++)
        *at++ = *lengths;
    *at++ = conversions[rand() % (int)strlen(conversions)];
    *at = '\0';
}

static void numbers_are_formatted_like_libc_does(void)
{
    static const char *const lengths[] = {"", "l", "ll", "z", "h", "hh"};

    for (int round = 0; round < ROUNDS; round++) {
        const char *length = lengths[rand() % 6];
        bool wide = length[0] == 'l' || length[0] == 'z';
        uint64_t value = random_value();
        char spec[32], expected[128];

        random_spec(spec, length, rand() % 2 == 0 ? "diu" : "xX");
        if (wide)
            snprintf(expected, sizeof(expected), spec, value);
        else
            snprintf(expected, sizeof(expected), spec, (unsigned)value);
        CHECK_TEXT(wide ? formatted(spec, value) : formatted(spec, (unsigned)value), expected);
    }
}

static void truncated_texts_begin_like_libcs(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        size_t size = 1 + (size_t)rand() % 40;
        uint64_t value = random_value();
        char expected[64];
        struct text_writer text;
        int length = snprintf(expected, size, "<%s|%20lx|%-9d>", "string", value, (int)value);

        text_init(&text, buffer, size);
        text_format(&text, "<%s|%20lx|%-9d>", "string", value, (int)value);
        CHECK_TEXT(buffer, expected);
        CHECK_EQUAL(text_truncated(&text), (size_t)length >= size);
    }
}

static void strings_and_characters_are_padded_like_libc_does(void)
{
    for (int round = 0; round < ROUNDS / 4; round++) {
        char spec[64], expected[128];
        int width = rand() % 60 - 30, precision = rand() % 12 - 2;

        sprintf(spec, "%%%s%d.*s|%%*c", rand() % 2 ? "-" : "", 1 + rand() % 30);
        snprintf(expected, sizeof(expected), spec, precision, "abcdefgh", width, 'x');
        CHECK_TEXT(formatted(spec, precision, "abcdefgh", width, 'x'), expected);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(pieces_are_put_one_behind_the_other),
    CHECK_CASE(truncation_keeps_what_fits_and_is_sticky),
    CHECK_CASE(a_text_that_just_fits_is_not_truncated),
    CHECK_CASE(format_knows_its_directives),
    CHECK_CASE(unknown_directives_are_written_as_they_stand),
    CHECK_CASE(a_precision_bounds_what_is_read),
    CHECK_CASE(numbers_are_formatted_like_libc_does),
    CHECK_CASE(truncated_texts_begin_like_libcs),
    CHECK_CASE(strings_and_characters_are_padded_like_libc_does),
};

CHECK_MAIN(cases)
