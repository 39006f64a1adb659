/* SPDX-License-Identifier: MIT */
/*
 * A session in which nothing is followed: threads run as they are, and functions are hooked. What the session does for
 * the controller, in the same steps. One for the process.
 */
#ifndef GAIT_AGENT_HOOK_SESSION_H
#define GAIT_AGENT_HOOK_SESSION_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

struct agent_call;
struct agent_options;
struct ring_region;
struct thread_registers;

/* Finds the functions and makes all that is needed, but changes nothing. -EOPNOTSUPP, -ENOMEM and others. */
MUST_USE int hook_session_prepare(const struct agent_options *options, struct ring_region *ring);

/* Takes the threads of the list out of code that will change. */
void hook_session_meet(struct agent_call *call);

/* Puts the hooks in place; `registers` are those that the calling thread goes on with. */
MUST_USE int hook_session_begin(struct thread_registers *registers);

/*
 * Takes the hooks away, and gives stacks back what they had; all threads are stopped, those of the list are moved out
 * of trampolines. To be repeated until hook_session_look says that all are out.
 */
MUST_USE int hook_session_leave(struct agent_call *call, struct thread_registers *registers);

/* Whether the threads of the list are out of our code. */
bool hook_session_look(struct agent_call *call, struct thread_registers *registers);

/* Gives everything back but the ring. */
void hook_session_end(void);

#endif
