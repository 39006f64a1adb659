/* SPDX-License-Identifier: MIT */
#include "symbolize/spelled_function.h"

#include "support/check.h"

static char text[64];

static void functions_are_written_as_people_do(void)
{
    CHECK_TEXT(spelled_function("libc.so.6!malloc", text, sizeof(text)), "libc.so.6!malloc");
    CHECK_TEXT(spelled_function("main", text, sizeof(text)), "main");
    CHECK_TEXT(spelled_function("app+0x1230", text, sizeof(text)), "app+0x1230");
    CHECK_TEXT(spelled_function("app!_ZN2Sq4areaEv", text, sizeof(text)), "app!Sq::area()");
    CHECK_TEXT(spelled_function("_Z5greetPKc", text, sizeof(text)), "greet(char const*)");
}

static void what_is_too_long_is_cut_off(void)
{
    CHECK_TEXT(spelled_function("app!_ZN2Sq4areaEv", text, 8), "app!Sq:");
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_are_written_as_people_do),
    CHECK_CASE(what_is_too_long_is_cut_off),
};

CHECK_MAIN(cases)
