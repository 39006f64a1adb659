/* SPDX-License-Identifier: MIT */
/* Following, and no longer following, a thread other than the calling one. */
#ifndef GAIT_STALKER_FOLLOW_OTHER_H
#define GAIT_STALKER_FOLLOW_OTHER_H

#include "stalker/follow.h"

struct thread_registers;

/*
 * Follows thread `tid` from wherever it is. -EALREADY; -ESRCH: no such thread; -ENOMEM; else as thread_modify.
 */
MUST_USE int stalker_follow_other(struct stalker_engine *engine, int tid, const struct follow_request *request);

/*
 * Takes thread `tid` out of the cache, back to its original code with its own registers, wherever it is; if it is in
 * the engine or in a native call, it leaves by itself as soon as it is done there. -ESRCH: it is not followed; else as
 * thread_modify.
 */
MUST_USE int stalker_unfollow_other(struct stalker_engine *engine, int tid);

/* The same for all but the calling one, which is in the engine. Those that cannot be met leave when they come there. */
void stalker_unfollow_others(struct stalker_engine *engine);

/*
 * Makes a followed thread that is in the cache enter the engine between two of the program's instructions, with the
 * program's registers in its context; from there it goes on as ever. -EAGAIN: it was where that is not possible, or in
 * the engine already: it has to be met again; else as thread_modify.
 */
MUST_USE int stalker_bring_in(struct stalker_thread *thread) REQUIRES(thread->engine->lock);

/*
 * The same for a thread that somebody else, a tracer, has stopped: its registers are changed, and take effect when it
 * goes on. Locks are tried, never waited for, since a stopped thread may have them. -EAGAIN: it is where that cannot
 * be, or a lock is taken; it has to be let go and met again. After stalker_unfollow_stopped it leaves, whatever that
 * says.
 */
MUST_USE int stalker_follow_stopped(struct stalker_engine *engine, int tid, const struct follow_request *request,
                                    struct thread_registers *registers);
MUST_USE int stalker_unfollow_stopped(struct stalker_engine *engine, int tid, struct thread_registers *registers);

#endif
