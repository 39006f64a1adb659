/* SPDX-License-Identifier: MIT */
/*
 * Sums by function, for a thread that may not number functions since others do the same: by process and address, as
 * long as what is mapped stays the same. One thread at a time; each has its own.
 */
#ifndef GAIT_QUERY_FUNCTION_SUMS_H
#define GAIT_QUERY_FUNCTION_SUMS_H

#include "query/query_source.h"

struct function_sum {
    uint64_t address;
    uint64_t from; /* the counter: from there */
    uint64_t to;   /* to before that, it is the same function */
    uint64_t time; /* of the first call */
    uint32_t process;
    uint32_t open_count; /* calls that have not ended */
    uint64_t calls;
    uint64_t total; /* ticks, as the others; what is within another call of the same function not again */
    uint64_t summed;
    uint64_t self;
    uint64_t shortest;
    uint64_t longest;
    uint64_t entry_only; /* of the calls: no time is known of them */
};

struct function_sums {
    const struct view_trace *trace;
    struct function_sum *sums;
    size_t count;
    size_t capacity;
    uint32_t *slots; /* numbers of sums, and 1, by address; a power of two */
    size_t slot_count;
};

#define FUNCTION_SUMS_NONE UINT32_MAX

/* Takes no memory yet. The trace must outlive it. */
void function_sums_init(struct function_sums *sums, const struct view_trace *trace);
void function_sums_deinit(struct function_sums *sums);
/* Forgets them, but keeps the memory. */
void function_sums_clear(struct function_sums *sums);

/* Where the sum of a function is; those before stay where they are. FUNCTION_SUMS_NONE: there is no memory. */
uint32_t function_sums_find(struct function_sums *sums, uint32_t process, uint64_t address, uint64_t time);

#endif
