/* SPDX-License-Identifier: MIT */
/* Memory of a process that lives, read by the kernel. One thread at a time for one struct. */
#ifndef GAIT_SYSCALLS_LIVE_MEMORY_H
#define GAIT_SYSCALLS_LIVE_MEMORY_H

#include "base/memory_map.h"
#include "syscalls/system_call_event.h"

/* Small reads are answered out of the page last read: texts ask for neighbours. Forgotten when the thread runs on. */
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

#endif
