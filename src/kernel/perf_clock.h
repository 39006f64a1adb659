/* SPDX-License-Identifier: MIT */
/*
 * From the times that the kernel puts on events to the counter that all other events of a trace have. Where the
 * kernel's own clock is made from the counter, and it says how, that is undone exactly; elsewhere events get
 * CLOCK_MONOTONIC_RAW, and readings of both, taken together, lead from one to the other. One thread at a time.
 */
#ifndef GAIT_KERNEL_PERF_CLOCK_H
#define GAIT_KERNEL_PERF_CLOCK_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* How the kernel makes its clock from the counter. */
struct perf_clock_formula {
    uint64_t zero;
    uint32_t multiplier;
    uint16_t shift;
};

/* Two clocks, read together. */
struct perf_clock_pair {
    uint64_t counter;
    uint64_t raw_ns;
};

struct perf_clock {
    bool has_formula;
    struct perf_clock_formula formula;
    struct perf_clock_pair from; /* what is between, or near, both of these is converted by the line through them */
    struct perf_clock_pair to;
    struct perf_clock_pair middle; /* where the next line will begin */
    uint64_t slope;                /* how many ticks a nanosecond has, times 2 to the power of 48; 0: not yet known */
};

/* Finds out which of both it is here. */
void perf_clock_init(struct perf_clock *clock);

/* Puts into a description of events on which clock their times are to be. */
void perf_clock_choose(const struct perf_clock *clock, struct perf_event_attr *attr);

/* Reads both clocks again; what happened since the last times is then converted well. */
void perf_clock_update(struct perf_clock *clock);

/* The counter at a time on an event. */
uint64_t perf_clock_counter(const struct perf_clock *clock, uint64_t time);

/* The time now, as events have it. */
uint64_t perf_clock_now(const struct perf_clock *clock);

#endif
