/* SPDX-License-Identifier: MIT */
#include "gait/clock.h"

#include "support/check.h"

#include <time.h>

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void pairs_are_read_together(void)
{
    uint64_t before = now_ns(), after;
    struct gait_clock_pair first, second;

    gait_clock_read(&first);
    gait_clock_read(&second);
    after = now_ns();
    CHECK(first.monotonic_ns >= before && second.monotonic_ns <= after);
    CHECK(first.monotonic_ns <= second.monotonic_ns);
    CHECK(first.counter < second.counter);
}

static void counters_become_nanoseconds(void)
{
    const struct gait_clock_pair first = {1000, 5000}, second = {3000, 6000};

    CHECK_EQUAL(gait_clock_to_ns(&first, &second, 1000), 5000);
    CHECK_EQUAL(gait_clock_to_ns(&first, &second, 2000), 5500);
    CHECK_EQUAL(gait_clock_to_ns(&first, &second, 3000), 6000);
    CHECK_EQUAL(gait_clock_to_ns(&first, &second, 5000), 7000);
    CHECK_EQUAL(gait_clock_to_ns(&first, &second, 0), 4500);
    CHECK_EQUAL(gait_clock_to_ns(&second, &first, 2000), 5500);
    CHECK_EQUAL(gait_clock_to_ns(&first, &first, 2000), 5000);
}

static void long_spans_do_not_overflow(void)
{
    const uint64_t day_ns = 86400ull * 1000000000, hertz = 3700000000;
    const struct gait_clock_pair first = {1ull << 60, 1ull << 60};
    const struct gait_clock_pair second = {(1ull << 60) + 1000 * 86400 * hertz, (1ull << 60) + 1000 * day_ns};

    CHECK_EQUAL(gait_clock_to_ns(&first, &second, (1ull << 60) + 400 * 86400 * hertz), (1ull << 60) + 400 * day_ns);
}

static const struct check_case cases[] = {
    CHECK_CASE(pairs_are_read_together),
    CHECK_CASE(counters_become_nanoseconds),
    CHECK_CASE(long_spans_do_not_overflow),
};

CHECK_MAIN(cases)
