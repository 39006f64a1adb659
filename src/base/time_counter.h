/* SPDX-License-Identifier: MIT */
/*
 * The CPU's counter of time (TSC, CNTVCT): the same on all cores, a few nanoseconds to read, in a unit that is found by
 * comparing it with a clock. Implemented once for each CPU in arch/<cpu>/host. Callable everywhere.
 */
#ifndef GAIT_BASE_TIME_COUNTER_H
#define GAIT_BASE_TIME_COUNTER_H

#include <stdint.h>

uint64_t time_counter(void);

#endif
