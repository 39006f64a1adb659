/* SPDX-License-Identifier: MIT */
/*
 * Calls on stacks that a thread has left and may come back to: coroutines, and whoever they are switched from. They
 * stay among the thread's invocations, flagged, and nothing is in them. Calls that were suspended together and lie
 * close to each other are of one stack, which has a number; records tell of each by that number, so that readers can
 * join them.
 *
 * Which stack a thread is on is only looked at the slow way. So that gates go it where a thread may have changed to
 * another stack, they are given a floor: the highest slot below the innermost call of any call that is not in it.
 *
 * The thread's own, with its signals blocked or while it ignores calls. No libc.
 */
#ifndef GAIT_HOOK_SUSPENDED_CALLS_H
#define GAIT_HOOK_SUSPENDED_CALLS_H

#include "base/attributes.h"
#include "hook/invocation_stack.h"

#include <stdbool.h>
#include <stdint.h>

struct hook_thread;

/* Farther from each other than that, two calls which might be on one stack are taken for being on two. */
#define SUSPENDED_NEAR_BYTES 8192u

/* No larger is a stack of which that is said. */
#define SUSPENDED_STACK_BYTES (1u << 20)

/* Calls that are suspended one after another, from the innermost one on; all zeroes: none yet. */
struct suspension {
    uint64_t last_slot;
    uint32_t number;
};

/* Suspends the innermost call that is not suspended, and tells so. */
void suspended_calls_add(struct hook_thread *thread, struct invocation *invocation, struct suspension *suspension);

/*
 * The thread is back: resumes a call and those that it is in on its stack, as the innermost ones, and tells so. Returns
 * where it is now. NULL: no memory.
 */
struct invocation *suspended_calls_resume(struct hook_thread *thread, struct invocation *invocation);

/*
 * The thread is in a forked child, whose records nobody has seen yet: tells of the calls that it was in when its
 * process forked, as resumed ones, which is where the child goes on.
 */
void suspended_calls_tell_inherited(struct hook_thread *thread);

/* It will not be resumed: tells that it is over. The invocation is to be removed then. */
void suspended_calls_end(struct hook_thread *thread, struct invocation *invocation);

/* The call with the lowest slot of those at or above that one; of several in one slot the innermost. NULL: none. */
struct invocation *suspended_calls_nearest(const struct hook_thread *thread, uint64_t slot);

/*
 * The calls are as they are to be: has gates go the slow way where the thread changes to another stack of which it has
 * calls. A call is about to be pushed with that slot; 0: none is.
 */
void suspended_calls_watch(struct hook_thread *thread, uint64_t slot);

/* Whether what is at that slot was not called, but is where the code of a new stack begins. */
bool suspended_calls_is_first(uint64_t slot);

#endif
