/* SPDX-License-Identifier: MIT */
#include "view/view_clock.h"

#include <stdbool.h>

static bool is_known(const struct view_clock *clock)
{
    return clock->last.counter > clock->first.counter && clock->last.monotonic_ns > clock->first.monotonic_ns;
}

double view_clock_tick_ns(const struct view_clock *clock)
{
    if (!is_known(clock))
        return 1;
    return (double)(clock->last.monotonic_ns - clock->first.monotonic_ns) /
           (double)(clock->last.counter - clock->first.counter);
}

uint64_t view_clock_ns(const struct view_clock *clock, uint64_t counter)
{
    uint64_t ticks = counter - clock->first.counter;

    if (counter <= clock->first.counter)
        return 0;
    if (!is_known(clock))
        return ticks;
    return (uint64_t)((unsigned __int128)ticks * (clock->last.monotonic_ns - clock->first.monotonic_ns) /
                      (clock->last.counter - clock->first.counter));
}

uint64_t view_clock_counter(const struct view_clock *clock, uint64_t ns)
{
    unsigned __int128 ticks = ns;

    if (ns == 0)
        return 0;
    if (is_known(clock)) {
        uint64_t passed_ns = clock->last.monotonic_ns - clock->first.monotonic_ns;

        ticks = (ticks * (clock->last.counter - clock->first.counter) + passed_ns - 1) / passed_ns;
    }
    return ticks > UINT64_MAX - clock->first.counter ? UINT64_MAX : clock->first.counter + (uint64_t)ticks;
}
