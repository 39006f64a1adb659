/* SPDX-License-Identifier: MIT */
/*
 * The time stamps of events are values of the CPU's counter: reading it costs a few nanoseconds, a clock several times
 * that. Pairs of the counter and CLOCK_MONOTONIC, taken before and after, give their meaning.
 *
 *   gait_clock_read(&before); ... follow, run ... gait_clock_read(&after);
 *   ns = gait_clock_to_ns(&before, &after, event->time);
 */
#ifndef GAIT_CLOCK_H
#define GAIT_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gait_clock_pair {
    uint64_t counter;
    uint64_t monotonic_ns;
};

/* Reads both at once, to within some tens of nanoseconds. */
void gait_clock_read(struct gait_clock_pair *pair_out);

/*
 * CLOCK_MONOTONIC when the counter had that value, by the line through two pairs; before and behind them, too. The
 * further apart they are, the better: 10 ms or more. With two pairs at the same counter: the first one's time.
 */
uint64_t gait_clock_to_ns(const struct gait_clock_pair *first, const struct gait_clock_pair *second, uint64_t counter);

#ifdef __cplusplus
}
#endif

#endif
