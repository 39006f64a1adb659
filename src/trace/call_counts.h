/* SPDX-License-Identifier: MIT */
/*
 * How often each function of a process was called: by the address that calls went to, and by the module that was there
 * at the time, for another one may come to the same place. One thread at a time.
 */
#ifndef GAIT_TRACE_CALL_COUNTS_H
#define GAIT_TRACE_CALL_COUNTS_H

#include "base/attributes.h"
#include "base/hash_map.h"
#include "trace/modules.h"

struct call_count {
    uint64_t address;
    const struct module *module; /* NULL: none was there */
    uint64_t calls;
    uint64_t ended;      /* of hooked functions: how many of them had an end that is known; the rest is of these, in */
    uint64_t total_time; /* ticks of the counter; what is inside of another call of the same function not again */
    uint64_t self_time;  /* without the hooked functions that they called */
    uint64_t longest_time; /* of one of them */
    uint64_t open_count;   /* while events of a thread are read: how many calls of it have not ended */
    size_t next;           /* another module at that address; SIZE_MAX: none */
};

struct call_counts {
    const struct modules *modules;
    struct hash_map addresses; /* -> the first of its counts */
    struct call_count *counts;
    size_t count;
    size_t capacity;
};

/* The modules must outlive it. -ENOMEM. */
MUST_USE int call_counts_init(struct call_counts *counts, const struct modules *modules);
void call_counts_deinit(struct call_counts *counts);

/* Counts a call that happened between two times. -ENOMEM: it is not counted. */
MUST_USE int call_counts_add(struct call_counts *counts, uint64_t address, uint64_t first_time, uint64_t last_time);

/* Finds the count for an address, which may be a new one with no calls: *index_out. -ENOMEM. */
MUST_USE int call_counts_find(struct call_counts *counts, uint64_t address, uint64_t first_time, uint64_t last_time,
                              size_t *index_out);

/* Puts them into order, the most called first. Nothing can be added afterwards. */
void call_counts_sort(struct call_counts *counts);

#endif
