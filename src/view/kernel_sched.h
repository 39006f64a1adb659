/* SPDX-License-Identifier: MIT */
/*
 * Who runs on which CPU, and who woke whom, out of the kernel's events. A switch may be told by the scheduler's
 * tracepoint, by the news that a thread begins or ceases to run (--sched), or by both: here it is told once. Of threads
 * that are not watched nothing is known but that they are not those: then thread 0 runs. One thread at a time.
 */
#ifndef GAIT_VIEW_KERNEL_SCHED_H
#define GAIT_VIEW_KERNEL_SCHED_H

#include "base/hash_map.h"
#include "trace/kernel_events.h"

enum kernel_sched_kind {
    KERNEL_SCHED_OTHER, /* something else */
    KERNEL_SCHED_KNOWN, /* a switch that was told before */
    KERNEL_SCHED_SWITCH,
    KERNEL_SCHED_WAKING, /* somebody wakes a thread */
    KERNEL_SCHED_WAKEUP, /* it can run from now on */
};

/* How a thread was when it ceased to run, as the kernel has it. */
enum kernel_sched_state {
    KERNEL_SCHED_RUNNABLE = 0,
    KERNEL_SCHED_SLEEPING = 1,
    KERNEL_SCHED_UNINTERRUPTIBLE = 2,
};

/* A thread that a change is of. */
struct kernel_sched_thread {
    uint32_t tid;
    int32_t priority;
    char name[17]; /* "": not told */
};

struct kernel_sched_change {
    enum kernel_sched_kind kind;
    struct kernel_sched_thread from; /* who ceases to run; of a waking, who is woken */
    struct kernel_sched_thread to;   /* who begins to */
    uint32_t state;                  /* of `from`, of enum kernel_sched_state or another of the lowest six bits */
    uint32_t target_cpu;             /* of a waking: where it is to run */
};

struct kernel_sched {
    const struct kernel_sources *sources;
    bool has_runs;           /* news of threads that begin to run are among them */
    struct hash_map running; /* CPU -> tid that runs there, as far as it was told */
};

/* Whether a source is one of those that --sched records, in a trace that was recorded so. */
bool kernel_sched_has(const struct kernel_sources *sources, const struct kernel_source *source);

/* The sources must outlive it. -ENOMEM. */
MUST_USE int kernel_sched_init(struct kernel_sched *sched, const struct kernel_sources *sources);
void kernel_sched_deinit(struct kernel_sched *sched);

/* What an event changes. Events come by time. */
void kernel_sched_take(struct kernel_sched *sched, const struct kernel_source *source, const struct kernel_event *event,
                       struct kernel_sched_change *change_out);

#endif
