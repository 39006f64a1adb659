/* SPDX-License-Identifier: MIT */
/* By the line through the first pair and the last one: the longer it is, the less the reading of either matters. */
#include "record/counter_clock.h"

/* Before that much time has passed, a line through both is too short to be good. */
#define LEAST_NANOSECONDS 100000

void counter_clock_init(struct counter_clock *clock, struct clock_pair first)
{
    *clock = (struct counter_clock){first, first};
}

uint64_t counter_clock_update(struct counter_clock *clock)
{
    do
        clock->last = clock_pair_read();
    while (clock->last.monotonic_ns < clock->first.monotonic_ns + LEAST_NANOSECONDS);
    return clock->last.counter;
}

uint64_t counter_clock_ticks(const struct counter_clock *clock, uint64_t nanoseconds)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t elapsed = clock->last.monotonic_ns - clock->first.monotonic_ns;

    if (elapsed == 0)
        return nanoseconds;
    return (uint64_t)((wide)nanoseconds * (clock->last.counter - clock->first.counter) / elapsed);
}
