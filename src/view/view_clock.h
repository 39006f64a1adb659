/* SPDX-License-Identifier: MIT */
/* What the counter of a trace means: nanoseconds since the recording began. A value; changes nothing, asks nobody. */
#ifndef GAIT_VIEW_VIEW_CLOCK_H
#define GAIT_VIEW_VIEW_CLOCK_H

#include "base/clock_pair.h"

#include <stdint.h>

struct view_clock {
    struct clock_pair first; /* when the recording began */
    struct clock_pair last;  /* some time later */
};

/* A counter whose pace is not known, since both pairs are the same, is taken for one of nanoseconds. */
double view_clock_tick_ns(const struct view_clock *clock);

/* Since the recording began; 0 for what was before. */
uint64_t view_clock_ns(const struct view_clock *clock, uint64_t counter);

/* The first counter whose time is that or later; UINT64_MAX: there is none. */
uint64_t view_clock_counter(const struct view_clock *clock, uint64_t ns);

#endif
