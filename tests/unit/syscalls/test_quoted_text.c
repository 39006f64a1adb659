/* SPDX-License-Identifier: MIT */
#include "syscalls/quoted_text.h"

#include "support/check.h"

#include <string.h>

static char buffer[256];

static const char *quoted(const char *bytes, size_t size_bytes, enum quoted_text_hex hex)
{
    const struct quoted_text_piece piece = {.bytes = bytes, .size_bytes = size_bytes, .special = "<>"};
    struct text_writer out;

    text_init(&out, buffer, sizeof(buffer));
    quoted_text_put(&out, &piece, hex);
    return buffer;
}

static void bytes_that_cannot_be_shown_are_numbers(void)
{
    CHECK_TEXT(quoted("a\n\"\\", 4, QUOTED_OCTAL), "a\\n\\\"\\\\");
    CHECK_TEXT(quoted("\0"
                      "1\0a\303",
                      5, QUOTED_OCTAL),
               "\\0001\\0a\\303");
    CHECK_TEXT(quoted("<a>1", 4, QUOTED_OCTAL), "\\74a\\0761");
    CHECK_TEXT(quoted("\001\303 ", 3, QUOTED_HEX_BYTES), "\\x01\\xc3 ");
}

static void strings_become_hexadecimal_as_asked(void)
{
    CHECK_TEXT(quoted("ab\n", 3, QUOTED_HEX_IF_NOT_ASCII), "ab\\n");
    CHECK_TEXT(quoted("ab\001", 3, QUOTED_HEX_IF_NOT_ASCII), "\\x61\\x62\\x01");
    CHECK_TEXT(quoted("ab", 2, QUOTED_HEX), "\\x61\\x62");
    CHECK_EQUAL(quoted_text_is_hex("ab", 2, QUOTED_HEX_BYTES), false);
    CHECK_EQUAL(quoted_text_is_hex("a\177", 2, QUOTED_HEX_IF_NOT_ASCII), true);
}

static void a_piece_knows_what_follows_it(void)
{
    const struct quoted_text_piece piece = {.bytes = "\001", .size_bytes = 1, .next = '7'};
    struct text_writer out;

    text_init(&out, buffer, sizeof(buffer));
    quoted_text_put(&out, &piece, QUOTED_OCTAL);
    CHECK_TEXT(buffer, "\\001");
}

static const struct check_case cases[] = {
    CHECK_CASE(bytes_that_cannot_be_shown_are_numbers),
    CHECK_CASE(strings_become_hexadecimal_as_asked),
    CHECK_CASE(a_piece_knows_what_follows_it),
};

CHECK_MAIN(cases)
