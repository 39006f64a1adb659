/* SPDX-License-Identifier: MIT */
#include "record/counter_clock.h"

#include "support/check.h"

static void time_becomes_ticks_by_the_line_through_both_pairs(void)
{
    struct counter_clock clock = {.first = {1000, 50}, .last = {4000, 1050}};

    CHECK_EQUAL(counter_clock_ticks(&clock, 0), 0);
    CHECK_EQUAL(counter_clock_ticks(&clock, 100), 300);
    CHECK_EQUAL(counter_clock_ticks(&clock, 10000000000), 30000000000);
    /* Hours do not overflow. */
    clock = (struct counter_clock){.first = {0, 0}, .last = {4000000000000000, 1000000000000000}};
    CHECK_EQUAL(counter_clock_ticks(&clock, 3600000000000000), 14400000000000000);
}

static void a_clock_that_was_just_begun_is_good(void)
{
    struct counter_clock clock;
    uint64_t counter, later;

    counter_clock_init(&clock, clock_pair_read());
    counter = counter_clock_update(&clock);
    CHECK(counter > clock.first.counter);
    CHECK(clock.last.monotonic_ns > clock.first.monotonic_ns);
    CHECK(counter_clock_ticks(&clock, 1000000) > 0);
    later = counter_clock_update(&clock);
    CHECK(later >= counter);
}

static const struct check_case cases[] = {
    CHECK_CASE(time_becomes_ticks_by_the_line_through_both_pairs),
    CHECK_CASE(a_clock_that_was_just_begun_is_good),
};

CHECK_MAIN(cases)
