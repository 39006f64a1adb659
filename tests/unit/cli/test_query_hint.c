/* SPDX-License-Identifier: MIT */
#include "cli/hints.h"

#include "gait/error.h"
#include "support/check.h"

static void check_hint_for(const char *sql, const char *text, const char *expected)
{
    struct gait_error err;

    snprintf(err.text, sizeof(err.text), "%s", text);
    query_hint_add(&err, sql);
    CHECK_TEXT(err.text, expected);
}

static void check_hint(const char *text, const char *expected)
{
    check_hint_for("", text, expected);
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

static void what_was_typed_is_not_offered(void)
{
    check_hint_for("SELECT name FROM functions", "no such column: name",
                   "no such column: name; functions has function, module, file, line, pid, calls, total_ns, self_ns, "
                   "min_ns, avg_ns, max_ns, function_id, address");
    check_hint("no such column: number", "no such column: number; try 'gait query --schema'");
}

static void columns_are_those_of_the_tables_that_are_named(void)
{
    check_hint_for("select x.calller from calls x", "no such column: x.calller",
                   "no such column: x.calller; did you mean caller?");
    check_hint_for("select calller from mycalls", "no such column: calller",
                   "no such column: calller; did you mean caller, callers or calls?");
}

static const struct check_case cases[] = {
    CHECK_CASE(what_was_typed_is_not_offered),
    CHECK_CASE(columns_are_those_of_the_tables_that_are_named),
    CHECK_CASE(names_that_are_near_are_told),
    CHECK_CASE(otherwise_there_is_a_place_to_look),
};

CHECK_MAIN(cases)
