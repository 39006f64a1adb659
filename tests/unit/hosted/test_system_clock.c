/* SPDX-License-Identifier: MIT */
#include "hosted/system_clock.h"

#include "base/clock_pair.h"
#include "support/check.h"

#include <time.h>

static void it_is_the_clock_of_the_core(void)
{
    uint64_t before = clock_monotonic_ns(), now = system_clock_ns(CLOCK_MONOTONIC), after = clock_monotonic_ns();

    CHECK(before <= now && now <= after);
}

static void other_clocks_are_read_too(void)
{
    uint64_t seconds = (uint64_t)time(NULL), now = system_clock_ns(CLOCK_REALTIME) / 1000000000;

    CHECK(now >= seconds && now <= (uint64_t)time(NULL) + 1);
}

static void milliseconds_are_of_the_same_clock(void)
{
    uint64_t before = system_clock_ns(CLOCK_MONOTONIC), now_ms = system_clock_ms();
    uint64_t after = system_clock_ns(CLOCK_MONOTONIC);

    CHECK(before / 1000000 <= now_ms && now_ms <= after / 1000000);
}

static void deadlines_are_as_far_away_as_asked_for(void)
{
    static const uint64_t timeouts_ms[] = {0, 1, 999, 1000, 1001, 86400000};

    for (size_t i = 0; i < sizeof(timeouts_ms) / sizeof(timeouts_ms[0]); i++) {
        uint64_t before = system_clock_ns(CLOCK_MONOTONIC), end, after;
        struct timespec deadline = system_clock_deadline(timeouts_ms[i]);

        after = system_clock_ns(CLOCK_MONOTONIC);
        CHECK(deadline.tv_nsec >= 0 && deadline.tv_nsec < 1000000000);
        end = (uint64_t)deadline.tv_sec * 1000000000 + (uint64_t)deadline.tv_nsec;
        CHECK(before + timeouts_ms[i] * 1000000 <= end && end <= after + timeouts_ms[i] * 1000000);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(it_is_the_clock_of_the_core),
    CHECK_CASE(other_clocks_are_read_too),
    CHECK_CASE(milliseconds_are_of_the_same_clock),
    CHECK_CASE(deadlines_are_as_far_away_as_asked_for),
};

CHECK_MAIN(cases)
