/* SPDX-License-Identifier: MIT */
/* Where texts of system calls read what arguments point at. One thread at a time for one struct. */
#ifndef GAIT_SYSCALLS_PROGRAM_MEMORIES_H
#define GAIT_SYSCALLS_PROGRAM_MEMORIES_H

#include "base/memory_map.h"
#include "ring/detail_record.h"
#include "syscalls/system_call_event.h"

/*
 * A process that lives, read by the kernel. Small reads are answered out of the page last read: texts ask for
 * neighbours. Forgotten when the thread runs on.
 */
struct live_memory {
    struct call_memory memory; /* what is handed to events */
    int tid;
    uint64_t page; /* address of what is in `bytes` */
    size_t held_bytes;
    unsigned char bytes[MEMORY_PAGE_MIN];
};

void live_memory_init(struct live_memory *live, int tid);

/* To be called when another thread is looked at, or this one has run. */
void live_memory_turn_to(struct live_memory *live, int tid);

/*
 * What the record of a system call kept: pieces, each an address and what was there. Looked at as if it were live. What
 * is in the record is not trusted.
 */
struct recorded_memory {
    struct detail_values values; /* must stay */
    struct call_memory memory;   /* for events */
};

void recorded_memory_init(struct recorded_memory *memory, struct detail_values values);

#endif
