/* SPDX-License-Identifier: MIT */
#include "cli/query_hint.h"

#include "gait/error.h"
#include "support/check.h"

static void check_hint(const char *text, const char *expected)
{
    struct gait_error err;

    snprintf(err.text, sizeof(err.text), "%s", text);
    query_hint_add(&err);
    CHECK_TEXT(err.text, expected);
}

static void names_that_are_near_are_told(void)
{
    check_hint("no such table: cals", "no such table: cals; did you mean calls?");
    check_hint("no such table: main.thread", "no such table: main.thread; did you mean threads?");
    check_hint("no such column: duration", "no such column: duration; did you mean duration_ns or function?");
    check_hint("x: no such column: c.calller", "x: no such column: c.calller; did you mean caller, callers or calls?");
}

static void otherwise_there_is_a_place_to_look(void)
{
    check_hint("no such table: zebra", "no such table: zebra; try 'gait query --schema'");
    check_hint("incomplete input", "incomplete input");
}

static const struct check_case cases[] = {
    CHECK_CASE(names_that_are_near_are_told),
    CHECK_CASE(otherwise_there_is_a_place_to_look),
};

CHECK_MAIN(cases)
