/* SPDX-License-Identifier: MIT */
/*
 * How long threads that were asked to stop are waited for. One that comes to run stops; so one that waits for a CPU on
 * a busy machine is waited for, and one that waits in the kernel for something that no signal interrupts is not for
 * long: those that stand still already wait as well.
 */
#ifndef GAIT_INJECT_STOP_PATIENCE_H
#define GAIT_INJECT_STOP_PATIENCE_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tracee;

/* Between two looks at what threads do; and in all, whatever that is. */
#define STOP_LOOK_NANOSECONDS 1000000000ull
#define STOP_MOST_NANOSECONDS 60000000000ull

struct stop_patience {
    uint64_t begun_ns;
    uint64_t looked_ns;
    uint64_t
        run_count; /* how often those that are waited for had come to run, when they were last looked at; 0: never */
};

void stop_patience_begin(struct stop_patience *patience);

/*
 * Whether those of the threads that have not stopped are still waited for. Costs little unless it is time to look.
 * 0: they are; -ETIMEDOUT: one is in a wait that cannot be interrupted; -ETIME: they do not come to run.
 */
MUST_USE int stop_patience_look(struct stop_patience *patience, const struct tracee *threads, size_t count);

/* What the kernel says of a thread: R, S, D...; X: it is gone. */
char stop_patience_state_of(pid_t pid, pid_t tid);

#endif
