/* SPDX-License-Identifier: MIT */
#include "cli/screens/printable.h"

#include "support/check.h"

static void control_characters_are_replaced(void)
{
    char buffer[32];

    CHECK_TEXT(printable(buffer, sizeof(buffer), "plain \xc3\xa9"), "plain \xc3\xa9");
    CHECK_TEXT(printable(buffer, sizeof(buffer), "a\033[31mb\n\x7f"), "a?[31mb??");
    /* One that is encoded in two bytes: the second one alone is harmless. */
    CHECK_TEXT(printable(buffer, sizeof(buffer), "\xc2\x9b"), "?\x9b");
    CHECK_TEXT(printable(buffer, sizeof(buffer), "\xc2"), "\xc2");
}

static void the_end_of_the_room_is_kept(void)
{
    char buffer[4];

    CHECK_TEXT(printable(buffer, sizeof(buffer), "abcdef"), "abc");
}

static const struct check_case cases[] = {
    CHECK_CASE(control_characters_are_replaced),
    CHECK_CASE(the_end_of_the_room_is_kept),
};

CHECK_MAIN(cases)
