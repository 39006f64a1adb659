/* SPDX-License-Identifier: MIT */
#include "kernel/perf_clock.h"

#include "base/time_counter.h"
#include "support/check.h"

#include <time.h>

static void formulas_are_undone(void)
{
    /* 2.5 ticks a nanosecond: as the kernel computes it, time = zero + (counter * multiplier >> shift). */
    const struct perf_clock clock = {.has_formula = true,
                                     .formula = {.zero = 1000000, .multiplier = 1717986918, .shift = 32}};

    for (uint64_t counter = 0; counter < 1ull << 60; counter = counter * 3 + 12345) {
        uint64_t time = 1000000 + (uint64_t)(((unsigned __int128)counter * 1717986918) >> 32);
        int64_t off = (int64_t)(perf_clock_counter(&clock, time) - counter);

        CHECK(off >= -3 && off <= 3);
    }
}

static void lines_lead_through_both_readings(void)
{
    const struct perf_clock clock = {.from = {.counter = 5000, .raw_ns = 1000},
                                     .to = {.counter = 8000, .raw_ns = 2000}};

    CHECK_EQUAL(perf_clock_counter(&clock, 1000), 5000);
    CHECK_EQUAL(perf_clock_counter(&clock, 2000), 8000);
    CHECK_EQUAL(perf_clock_counter(&clock, 1500), 6500);
    CHECK_EQUAL(perf_clock_counter(&clock, 900), 4700);
    CHECK_EQUAL(perf_clock_counter(&clock, 2100), 8300);
}

/* Once the clock was looked at, conversions are short: they must say the same. */
static void short_conversions_are_right(void)
{
    struct perf_clock clock = {.has_formula = true,
                               .formula = {.zero = 1000000, .multiplier = 1717986918, .shift = 32}};
    struct perf_clock exact = clock;
    uint64_t now;

    perf_clock_update(&clock);
    now = perf_clock_now(&clock);
    CHECK(clock.slope != 0);
    for (uint64_t distance = 0; distance < 1ull << 50; distance = distance * 2 + 77) {
        uint64_t earlier = distance < now - 1000000 ? now - distance : now, later = now + distance;
        int64_t before = (int64_t)(perf_clock_counter(&clock, earlier) - perf_clock_counter(&exact, earlier));
        int64_t after = (int64_t)(perf_clock_counter(&clock, later) - perf_clock_counter(&exact, later));

        CHECK(before >= -3 && before <= 3);
        CHECK(after >= -3 && after <= 3);
    }
    perf_clock_init(&clock);
    perf_clock_update(&clock);
    exact = clock;
    exact.slope = 0;
    now = perf_clock_now(&clock);
    for (uint64_t distance = 0; distance < 1ull << 50; distance = distance * 2 + 77) {
        int64_t off =
            (int64_t)(perf_clock_counter(&clock, now + distance) - perf_clock_counter(&exact, now + distance));

        CHECK(off >= -3 && off <= 3);
    }
}

static void events_get_the_clock_that_can_be_converted(void)
{
    struct perf_clock clock = {.has_formula = false};
    struct perf_event_attr attr = {.size = 0};

    perf_clock_choose(&clock, &attr);
    CHECK(attr.use_clockid);
    CHECK_EQUAL(attr.clockid, CLOCK_MONOTONIC_RAW);
    clock.has_formula = true;
    perf_clock_choose(&clock, &attr);
    CHECK(!attr.use_clockid);
}

/* Between two readings of the counter lies a reading of the clock, and so does what it is converted into. */
static void now_is_now(void)
{
    struct perf_clock clock;
    unsigned bad = 0;

    perf_clock_init(&clock);
    for (unsigned i = 0; i < 300; i++) {
        uint64_t before = time_counter(), time = perf_clock_now(&clock), after = time_counter(), counter;
        uint64_t slack = 3000; /* a microsecond, of a counter of up to 3 GHz */

        perf_clock_update(&clock);
        counter = perf_clock_counter(&clock, time);
        bad += counter + slack < before || counter > after + slack;
    }
    CHECK_EQUAL(bad, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(formulas_are_undone),
    CHECK_CASE(lines_lead_through_both_readings),
    CHECK_CASE(short_conversions_are_right),
    CHECK_CASE(events_get_the_clock_that_can_be_converted),
    CHECK_CASE(now_is_now),
};

CHECK_MAIN(cases)
