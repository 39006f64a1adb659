/* SPDX-License-Identifier: MIT */
/*
 * How long to wait until rings are drained again. While records come, a millisecond: that is how far apart the marks
 * are that say when they happened. When none come, longer and longer, up to what lets the next ones be in a file
 * within ten milliseconds. After a long silence still longer: watching a program that does nothing shall cost next to
 * nothing, and each wait costs some ten to hundred microseconds. A full buffer ends the wait at once, so nothing is
 * lost by waiting.
 */
#ifndef GAIT_RECORD_DRAIN_PACE_H
#define GAIT_RECORD_DRAIN_PACE_H

#include <stdbool.h>

#define DRAIN_PACE_BUSY_MS    1u
#define DRAIN_PACE_SILENT_MS  8u
#define DRAIN_PACE_IDLE_MS    100u
#define DRAIN_PACE_LONG_AFTER 256u /* milliseconds of silence */
#define DRAIN_PACE_REST_MS    250u
#define DRAIN_PACE_REST_AFTER 4000u

/* All zero is a pace at its beginning. */
struct drain_pace {
    unsigned silent_ms; /* how long none came, if that is not long */
};

/* How many milliseconds to wait after a drain, which found something or not. */
static inline unsigned drain_pace_next(struct drain_pace *pace, bool found_some)
{
    unsigned wait_ms = pace->silent_ms;

    if (found_some)
        wait_ms = pace->silent_ms = 0;
    if (wait_ms >= DRAIN_PACE_REST_AFTER)
        return DRAIN_PACE_REST_MS;
    if (wait_ms >= DRAIN_PACE_LONG_AFTER)
        wait_ms = DRAIN_PACE_IDLE_MS;
    else if (wait_ms < DRAIN_PACE_BUSY_MS)
        wait_ms = DRAIN_PACE_BUSY_MS;
    else if (wait_ms > DRAIN_PACE_SILENT_MS)
        wait_ms = DRAIN_PACE_SILENT_MS;
    pace->silent_ms += wait_ms;
    return wait_ms;
}

#endif
