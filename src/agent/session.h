/* SPDX-License-Identifier: MIT */
/* What the agent does for the controller: the one recording that the target is part of. */
#ifndef GAIT_AGENT_SESSION_H
#define GAIT_AGENT_SESSION_H

#include "base/attributes.h"

#include <stdint.h>

struct agent_call;
struct thread_registers;

/*
 * Makes ring and engine as the options say and follows the calling thread, which goes on with `registers`. -EALREADY:
 * there is a session; -EOPNOTSUPP, -ENOMEM and others: nothing is left.
 */
MUST_USE int session_begin(struct agent_call *call, struct thread_registers *registers);

/* Follows the threads of the list. Each has a result of its own. */
MUST_USE int session_follow(struct agent_call *call);

/* Takes threads of the list out of translated code. -EAGAIN as a thread's result: it is where it cannot be yet. */
MUST_USE int session_leave(struct agent_call *call);

/* Gives everything back. -EBUSY: threads are still followed. */
MUST_USE int session_end(void);

uint32_t session_followed_count(void);

#endif
