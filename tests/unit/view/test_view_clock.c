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

/* The counter is the first whose time is that, or later. */
static void times_lead_back_to_counters(void)
{
    struct view_clock paces[] = {
        {{1000, 50000}, {3001000, 1050000}}, {{1000, 0}, {2000, 7000}}, {{1000, 1}, {1000, 1}}};

    for (size_t i = 0; i < sizeof(paces) / sizeof(paces[0]); i++)
        for (uint64_t ns = 1; ns < 5000; ns += 7) {
            uint64_t counter = view_clock_counter(&paces[i], ns);

            CHECK(view_clock_ns(&paces[i], counter) >= ns && view_clock_ns(&paces[i], counter - 1) < ns);
        }
    CHECK_EQUAL(view_clock_counter(&paces[0], 0), 0);
    CHECK_EQUAL(view_clock_counter(&paces[0], UINT64_MAX), UINT64_MAX);
}

static const struct check_case cases[] = {
    CHECK_CASE(two_pairs_turn_counts_into_nanoseconds),
    CHECK_CASE(large_counts_do_not_overflow),
    CHECK_CASE(times_lead_back_to_counters),
    CHECK_CASE(an_unknown_pace_is_a_nanosecond_a_tick),
};

CHECK_MAIN(cases)
