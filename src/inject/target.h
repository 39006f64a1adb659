/* SPDX-License-Identifier: MIT */
/*
 * A process with the agent in it: taking it in, and taking it out again without a trace. The process may be our child,
 * stopped before its first instruction, or any other one, doing whatever it does. For one thread of the controller.
 */
#ifndef GAIT_INJECT_TARGET_H
#define GAIT_INJECT_TARGET_H

#include "base/attributes.h"
#include "gait/error.h"
#include "inject/remote.h"
#include "protocol/agent_call.h"

#include <stdint.h>
#include <sys/types.h>

struct target {
    pid_t pid;
    struct remote_agent agent;
    uint64_t cookie;         /* that the agent's memory has */
    bool may_change_counter; /* as struct agent_call has it */
    bool is_self_writing;    /* likewise */
    int ring_fd;             /* our own; -1: none */
    int presence;            /* by which the process sees that we are there; ring_presence.h */
    uint64_t standstill_ns;  /* how long threads stood still for us, the last time */
    uint32_t followed_count; /* threads */
    uint32_t hooked_count;   /* functions */
    int killed_by;           /* the signal that ended a program before it could be followed; 0: none */
};

/*
 * Starts a program that is followed from its first instruction on. It runs when this returns. On failure
 * target_out->killed_by is valid.
 */
MUST_USE int target_spawn(char *const arguments[], const struct agent_options *options, struct target *target_out,
                          struct gait_error *err);

/* The same for a program that was just executed, by a thread that is stopped there. The thread is not let go. */
MUST_USE int target_begin(struct tracee *thread, const struct agent_options *options, struct target *target_out,
                          struct gait_error *err);

/* The same, quicker, for who then lets the thread go, and does nothing else with it. */
MUST_USE int target_start(struct tracee *thread, const struct agent_options *options, struct target *target_out,
                          struct gait_error *err);

/*
 * A process that was forked by a target has a copy of its agent, and a ring that it names by a descriptor and a cookie.
 * Finds the process, which calls itself inner_pid, and takes the ring over. -ESRCH: there is none.
 */
MUST_USE int target_adopt(const struct target *parent, pid_t inner_pid, int ring_fd, uint64_t cookie,
                          struct target *target_out);

/*
 * Follows all threads of a process, and takes out first what somebody who was killed has left in it. -ESRCH: there is
 * none; -EPERM: we may not; -EALREADY: somebody else records it.
 */
MUST_USE int target_attach(pid_t pid, const struct agent_options *options, struct target *target_out,
                           struct gait_error *err);

/*
 * Lets all threads go on in their original code, and takes the agent and all that it has out of the process. -ESRCH:
 * the process has ended, or executes another program by now; -ETIMEDOUT: a thread could not be met where it can leave,
 * within ten seconds: it is still followed, and the agent stays.
 */
MUST_USE int target_detach(struct target *target, struct gait_error *err);

/* Closes the ring's descriptor, when the drain has the ring. */
void target_close_ring(struct target *target);

/* Gives back what is ours, and leaves the process alone, which sees that we are gone. */
void target_forget(struct target *target);

#endif
