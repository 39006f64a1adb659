/* SPDX-License-Identifier: MIT */
/*
 * How long hooked functions took: from the events of one thread after the other, into the counts of their process. A
 * call whose end was not told, since the thread was still in it, lasts until the thread's last event; of one whose end
 * cannot be known nothing is counted but the call. One thread at a time.
 */
#ifndef GAIT_TRACE_HOOK_TIMES_H
#define GAIT_TRACE_HOOK_TIMES_H

#include "base/attributes.h"
#include "gait/stalker.h"

#include <stddef.h>
#include <stdint.h>

struct call_counts;

/* A call that has not ended. */
struct timed_call {
    size_t count; /* which one is its function's */
    int32_t depth;
    uint64_t entered;
    uint64_t inner_time; /* that it spent in hooked functions */
};

struct hook_times {
    struct call_counts *calls;
    struct timed_call *open;
    size_t open_count;
    size_t open_capacity;
    uint64_t last_time;
};

/* Counts go to `calls`, which must outlive it. Takes no memory yet. */
void hook_times_init(struct hook_times *times, struct call_counts *calls);
void hook_times_deinit(struct hook_times *times);

/* The next event of the thread; others than GAIT_EVENT_ENTER and _LEAVE are passed over. -ENOMEM. */
MUST_USE int hook_times_take(struct hook_times *times, const struct gait_event *event);

/* Events are missing here: what was called before may have ended, or not. */
void hook_times_forget(struct hook_times *times);

/* The thread has no more events; those of another one follow. */
void hook_times_end_thread(struct hook_times *times);

#endif
