/* SPDX-License-Identifier: MIT */
/*
 * How long to wait until rings are drained again. While records come, a millisecond: that is how far apart the marks
 * are that tell when they happened. When none come, longer and longer, so that watching an idle program costs next to
 * nothing, but not so long that what comes then is late. A full buffer ends the wait at once.
 */
#ifndef GAIT_RECORD_DRAIN_PACE_H
#define GAIT_RECORD_DRAIN_PACE_H

#include <stdbool.h>

#define DRAIN_PACE_BUSY_MS 1u
#define DRAIN_PACE_IDLE_MS 8u

/* All zero is a pace at its beginning. */
struct drain_pace {
    unsigned wait_ms;
};

/* How many milliseconds to wait after a drain, which found something or not. */
static inline unsigned drain_pace_next(struct drain_pace *pace, bool found_some)
{
    if (found_some || pace->wait_ms == 0)
        pace->wait_ms = DRAIN_PACE_BUSY_MS;
    else if (pace->wait_ms < DRAIN_PACE_IDLE_MS)
        pace->wait_ms *= 2;
    return pace->wait_ms;
}

#endif
