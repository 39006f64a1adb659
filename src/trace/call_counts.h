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
    size_t next; /* another module at that address; SIZE_MAX: none */
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

/* Puts them into order, the most called first. Nothing can be added afterwards. */
void call_counts_sort(struct call_counts *counts);

#endif
