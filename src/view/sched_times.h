/* SPDX-License-Identifier: MIT */
/*
 * What threads did with their time, out of the kernel's events: how long each ran, waited for a CPU when it could run,
 * and waited for something else. Who wakes a thread is seen only if it is watched itself: a thread that others wake, or
 * the kernel, is blocked until it runs. What was before the first event of a thread, and goes on behind its last, does
 * not count. One thread at a time.
 */
#ifndef GAIT_VIEW_SCHED_TIMES_H
#define GAIT_VIEW_SCHED_TIMES_H

#include "base/hash_map.h"
#include "view/view_trace.h"

#include <stdbool.h>
#include <stdint.h>

enum sched_doing {
    SCHED_UNKNOWN,
    SCHED_RUNNING,
    SCHED_WAITING, /* for a CPU */
    SCHED_BLOCKED,
    SCHED_DOINGS,
};

struct sched_thread {
    uint32_t tid;
    char name[17];
    enum sched_doing doing; /* since: */
    uint64_t since;         /* the counter */
    uint64_t ticks[SCHED_DOINGS];
    uint64_t run_count;    /* how often it began to run */
    uint64_t pushed_count; /* how often it was pushed aside */
};

struct sched_times {
    struct sched_thread *threads; /* those that ran longest first */
    size_t count;
    struct hash_map numbers; /* tid -> thread */
    uint64_t event_count;    /* that these follow from, and others that --sched records */
    uint64_t lost_count;
};

/* Of a trace that was recorded with --sched. -ENOENT: it was not; -ENOMEM. */
MUST_USE int sched_times_read(struct sched_times *times, const struct view_trace *trace);
void sched_times_free(struct sched_times *times);

#endif
