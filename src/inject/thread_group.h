/* SPDX-License-Identifier: MIT */
/* All threads of another process at once: stopping every one of them, and letting them go. */
#ifndef GAIT_INJECT_THREAD_GROUP_H
#define GAIT_INJECT_THREAD_GROUP_H

#include "base/attributes.h"
#include "gait/error.h"
#include "inject/tracee.h"

#include <stddef.h>
#include <stdint.h>

struct thread_group {
    pid_t pid;
    struct tracee *threads;
    size_t count;
    bool is_elsewhere;   /* in a pid namespace that is not ours */
    uint64_t stopped_ns; /* when the first one was, on CLOCK_MONOTONIC */
};

/*
 * Stops all threads, also those that are made meanwhile. -ESRCH: there is no such process; -EPERM: it may not be
 * traced, or another process does; -ETIMEDOUT: one does not stop. On failure none is left stopped.
 */
MUST_USE int thread_group_stop(struct thread_group *group, pid_t pid, struct gait_error *err);

/* The same for one thread only, the first that can be. The others run on. */
MUST_USE int thread_group_stop_one(struct thread_group *group, pid_t pid, struct gait_error *err);

/* Lets all go on. Returns for how long they stood still. */
uint64_t thread_group_release(struct thread_group *group);

#endif
