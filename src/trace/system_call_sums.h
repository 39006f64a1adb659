/* SPDX-License-Identifier: MIT */
/*
 * How often each system call was made, how often it failed, and how long it took. What is in the records is not
 * trusted. Memory grows with the number of different ones. One thread at a time.
 */
#ifndef GAIT_TRACE_SYSTEM_CALL_SUMS_H
#define GAIT_TRACE_SYSTEM_CALL_SUMS_H

#include "ring/detail_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct system_call_sum {
    uint64_t number;
    uint64_t calls;
    uint64_t errors;   /* of those that returned */
    uint64_t returned; /* those that did; times are of these, in ticks of the counter */
    uint64_t total;
    uint64_t shortest;
    uint64_t longest;
};

struct system_call_sums {
    struct system_call_sum *counts;
    size_t count;
    size_t capacity;
    int result; /* -ENOMEM: some are missing */
};

/* All zero: none yet. */
void system_call_sums_deinit(struct system_call_sums *counts);

/* One more. */
void system_call_sums_add(struct system_call_sums *counts, const struct detail_system_call *call);

/* A call of that number that was added and had not returned has; it will be added again. */
void system_call_sums_take_back(struct system_call_sums *counts, uint64_t number);

/* All that the other one has. */
void system_call_sums_merge(struct system_call_sums *counts, const struct system_call_sums *other);

/* Those that took longest first. */
void system_call_sums_sort(struct system_call_sums *counts);

/* Whether a result is an error. */
static inline bool system_call_has_failed(int64_t result)
{
    return result < 0 && result >= -4095;
}

#endif
