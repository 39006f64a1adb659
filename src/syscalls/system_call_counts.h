/* SPDX-License-Identifier: MIT */
/* How often system calls were made, how many failed and how long they took, and the table of that. One thread. */
#ifndef GAIT_SYSCALLS_SYSTEM_CALL_COUNTS_H
#define GAIT_SYSCALLS_SYSTEM_CALL_COUNTS_H

#include "syscalls/system_call_event.h"

#include <stdio.h>

struct system_call_count {
    uint64_t calls;
    uint64_t errors;
    uint64_t total_ns;
};

struct system_call_counts {
    struct system_call_count by_number[SYSTEM_CALL_NUMBERS + 1]; /* the last is for all others */
};

/* Takes in a call that has ended; other events are ignored. */
void system_call_counts_add(struct system_call_counts *counts, const struct system_call_event *event);

/* The table, the longest first, as strace -c -w writes it. */
void system_call_counts_put(const struct system_call_counts *counts, FILE *stream);

/* The same as a list of objects. */
void system_call_counts_put_json(const struct system_call_counts *counts, FILE *stream);

#endif
