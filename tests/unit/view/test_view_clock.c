/* SPDX-License-Identifier: MIT */
#include "view/view_clock.h"

#include "support/check.h"

static void two_pairs_turn_counts_into_nanoseconds(void)
{
    struct view_clock clock = {{1000, 50000}, {3001000, 1050000}};

    CHECK_EQUAL(view_clock_ns(&clock, 1000), 0);
    CHECK_EQUAL(view_clock_ns(&clock, 4000), 1000);
    CHECK_EQUAL(view_clock_ns(&clock, 3001000 * 2 - 1000), 2000000);
    CHECK_EQUAL(view_clock_ns(&clock, 10), 0);
    CHECK(view_clock_tick_ns(&clock) > 0.333 && view_clock_tick_ns(&clock) < 0.334);
}

static void large_counts_do_not_overflow(void)
{
    struct view_clock clock = {{0, 0}, {UINT64_C(4) << 60, UINT64_C(1) << 60}};

    CHECK_EQUAL(view_clock_ns(&clock, UINT64_C(2) << 60), UINT64_C(1) << 59);
}

static void an_unknown_pace_is_a_nanosecond_a_tick(void)
{
    struct view_clock clock = {{1000, 50000}, {1000, 50000}};

    CHECK_EQUAL(view_clock_ns(&clock, 1700), 700);
    CHECK(view_clock_tick_ns(&clock) == 1);
}

static const struct check_case cases[] = {
    CHECK_CASE(two_pairs_turn_counts_into_nanoseconds),
    CHECK_CASE(large_counts_do_not_overflow),
    CHECK_CASE(an_unknown_pace_is_a_nanosecond_a_tick),
};

CHECK_MAIN(cases)
