/* SPDX-License-Identifier: MIT */
#include "base/clock_pair.h"

#include "base/time_counter.h"
#include "support/check.h"

#include <time.h>

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void both_are_of_the_same_moment(void)
{
    for (int i = 0; i < 1000; i++) {
        uint64_t counter = time_counter(), ns = now_ns();
        struct clock_pair pair = clock_pair_read();

        CHECK(pair.counter >= counter && pair.counter <= time_counter());
        CHECK(pair.monotonic_ns >= ns && pair.monotonic_ns <= now_ns());
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(both_are_of_the_same_moment),
};

CHECK_MAIN(cases)
