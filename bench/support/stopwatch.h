/* SPDX-License-Identifier: MIT */
/*
 * Times things that are to be compared: each is run in turn, several rounds, and the best round of each counts. So what
 * else the machine does falls on all of them alike.
 */
#ifndef GAIT_BENCH_STOPWATCH_H
#define GAIT_BENCH_STOPWATCH_H

#include <stddef.h>

struct contestant {
    const char *name;
    /* Does the work once. Returns how many things it did, the same number each time. */
    size_t (*run)(void *context);
    double best_ns; /* per thing, out */
    size_t count;   /* of things, out */
};

/* Runs all contestants, in turn, `rounds` times, by the CPU time of this thread. */
void stopwatch_compare(struct contestant *contestants, size_t count, int rounds, void *context);

#endif
