/* SPDX-License-Identifier: MIT */
/*
 * A session in which nothing is followed: threads run as they are, and functions are hooked. What the session does for
 * the controller, in the same steps. One for the process.
 */
#ifndef GAIT_AGENT_HOOK_SESSION_H
#define GAIT_AGENT_HOOK_SESSION_H

#include "base/attributes.h"

#include <stdbool.h>

struct agent_call;
struct ring_region;
struct thread_registers;

/* Finds the functions and makes all that is needed, but changes nothing. -EOPNOTSUPP, -ENOMEM and others. */
MUST_USE int hook_session_prepare(const struct agent_call *call, struct ring_region *ring);

/* Takes the threads of the list out of code that will change. */
MUST_USE int hook_session_meet(struct agent_call *call);

/* Puts the hooks in place; `registers` are those that the calling thread goes on with. */
MUST_USE int hook_session_begin(struct thread_registers *registers);

/*
 * Takes the hooks away; all threads are stopped, those of the list are moved out of trampolines.
 */
MUST_USE int hook_session_leave(struct agent_call *call, struct thread_registers *registers);

/* Whether the threads of the list are out of our code. Those that are get their base back. */
bool hook_session_look(struct agent_call *call, struct thread_registers *registers);

/*
 * Gives stacks back what they had, and then everything but the ring. All threads are stopped and were found out of our
 * code. False: one is not quite, nothing is done.
 */
MUST_USE bool hook_session_end(void);

#endif
