/* SPDX-License-Identifier: MIT */
/* Between nanoseconds and the counter, while a recording goes on. One thread at a time. */
#ifndef GAIT_RECORD_COUNTER_CLOCK_H
#define GAIT_RECORD_COUNTER_CLOCK_H

#include "base/clock_pair.h"

struct counter_clock {
    struct clock_pair first;
    struct clock_pair last;
};

/* From a pair of the beginning. */
void counter_clock_init(struct counter_clock *clock, struct clock_pair first);

/* Reads both clocks, so that what follows is exact up to now. Returns the counter. */
uint64_t counter_clock_update(struct counter_clock *clock);

/* How far the counter goes in that time. */
uint64_t counter_clock_ticks(const struct counter_clock *clock, uint64_t nanoseconds);

#endif
