/* SPDX-License-Identifier: MIT */
/*
 * What the counter of time means: pairs of it and CLOCK_MONOTONIC, read together. Two of them, some time apart, turn
 * every value of the counter into nanoseconds. Raw system calls, no locks: callable from everywhere.
 */
#ifndef GAIT_BASE_CLOCK_PAIR_H
#define GAIT_BASE_CLOCK_PAIR_H

#include <stdint.h>

struct clock_pair {
    uint64_t counter;
    uint64_t monotonic_ns;
};

/* The best of some readings: the one that took least time. */
struct clock_pair clock_pair_read(void);

/* CLOCK_MONOTONIC alone. */
uint64_t clock_monotonic_ns(void);

#endif
