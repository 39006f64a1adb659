/* SPDX-License-Identifier: MIT */
/* What the agent does for the controller: the one recording that the target is part of. */
#ifndef GAIT_AGENT_SESSION_H
#define GAIT_AGENT_SESSION_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

struct agent_call;
struct thread_registers;

/*
 * Gives the image the access that it needs, and makes ring and engine as the options say. -EALREADY: there is a
 * session; -EOPNOTSUPP, -ENOMEM and others: nothing is left.
 */
MUST_USE int session_prepare(struct agent_call *call);

/*
 * Follows the calling thread, which goes on with `registers`. Without session_prepare does that before; then the ring's
 * descriptor stays open, else it is closed. Errors as above.
 */
MUST_USE int session_begin(struct agent_call *call, struct thread_registers *registers);

/*
 * Both at once, of a program that is at its first instruction, and behind it what is left to do when the controller has
 * taken the ring, or never will: then the thread leaves translated code at once.
 */
MUST_USE int session_start(struct agent_call *call, struct thread_registers *registers);
void session_started(struct thread_registers *registers, bool is_taken);

/* Follows the threads of the list. Each has a result of its own. */
MUST_USE int session_follow(struct agent_call *call);

/*
 * Takes threads of the list out of translated code; `registers` are the calling one's, which may be among them. -EAGAIN
 * as a thread's result: it leaves by itself, or has to be met again.
 */
MUST_USE int session_leave(struct agent_call *call, struct thread_registers *registers);

/* Whether the threads of the list are out of our hands. -EBUSY: some are not. */
MUST_USE int session_look(struct agent_call *call, struct thread_registers *registers);

/*
 * Gives everything back. All threads of the process are stopped, and were found out of our hands. -EBUSY: some are
 * still followed.
 */
MUST_USE int session_end(void);

uint32_t session_followed_count(void);
uint32_t session_hooked_count(void);

#endif
