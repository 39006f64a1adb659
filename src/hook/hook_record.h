/* SPDX-License-Identifier: MIT */
/*
 * The records of hooked functions: each thread's go to a lane of a ring. Gates write them by themselves, until a buffer
 * is full. No libc; inside the target.
 */
#ifndef GAIT_HOOK_HOOK_RECORD_H
#define GAIT_HOOK_HOOK_RECORD_H

#include "ring/event_record.h"

#include <stdatomic.h>
#include <stdint.h>

struct hook_thread;
struct ring_region;

/* A record as it stands in a lane. Gates know it by HOOK_RECORD_*, of hook/hook_thread_layout.h. */
struct hook_record {
    _Atomic uint64_t header_and_depth; /* 32 bits each; 0: it is being written */
    uint64_t time;
};

/* It is whole, but for this. Release: readers that see the header see the time, too. */
static inline void hook_record_publish(struct hook_record *record, uint32_t header, uint32_t depth)
{
    atomic_store_explicit(&record->header_and_depth, (uint64_t)depth << 32 | header, memory_order_release);
}

/* From now on records go to that ring, whose space of block numbers has the functions. Any thread. */
void hook_recording_begin(struct ring_region *region, uint32_t space);

/*
 * No lane is taken any more, and those of all threads are closed. Stubs that record must not run any more, or be about
 * to: it is they who write into the lanes.
 */
void hook_recording_end(void);

/* In a forked child: the ring is the parent's. What is recorded is dropped until there is another one. */
void hook_recording_forget(void);

/* For the thread itself, with its signals blocked or while it ignores calls. Times are taken here. */
void hook_record_write(struct hook_thread *thread, uint32_t number, enum event_record record, uint32_t depth);

/* The thread's buffer is full: goes on to the next one, or to the first one that it gets. Signals are blocked. */
void hook_record_next(struct hook_thread *thread);

/* A state has become a thread's; or nobody's; or is one of the process that this was forked from. */
void hook_record_begin_thread(struct hook_thread *thread);
void hook_record_close(struct hook_thread *thread);
void hook_record_forget(struct hook_thread *thread);

#endif
