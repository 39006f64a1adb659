/* SPDX-License-Identifier: MIT */
/*
 * What becomes of calls that do not simply return: which of a thread's invocations are over though they never returned,
 * which of them a return belongs to, and how unwinders are shown the return addresses that were there. Everything here
 * is the slow way, for when the gates of stubs find that something is odd. The thread's own, with its signals blocked
 * or while it ignores calls; no libc.
 */
#ifndef GAIT_HOOK_RETURN_TRACKING_H
#define GAIT_HOOK_RETURN_TRACKING_H

#include "base/attributes.h"
#include "hook/invocation_stack.h"

#include <stdbool.h>
#include <stdint.h>

struct hook_thread;

/*
 * A function was entered with the stack pointer at `slot`. Drops what is over by then, and pushes an invocation. NULL:
 * no memory for it; the function is to be entered without its return being seen.
 */
struct invocation *return_tracking_enter(struct hook_thread *thread, uint64_t slot, uint64_t stub);

/*
 * A function has returned to its stub's landing. Fills in the invocation, which is gone then, wherever it was; whether
 * there was one: else only the return address is filled in, of one that was given up before.
 */
bool return_tracking_leave(struct hook_thread *thread, uint64_t slot, uint64_t stub, struct invocation *out);

/* The same without a thread's state. */
void return_tracking_leave_unknown(uint64_t slot, uint64_t stub, struct invocation *out);

/* Where an invocation will have gone to when it, and the functions that jumped to it, have returned. Signal-safe. */
uint64_t return_tracking_caller(struct hook_thread *thread, const struct invocation *invocation);

/*
 * Whether a call, the innermost one of its slot, has not ended by a jump that nobody has noticed yet. The thread is at
 * `sp`; it may be another one, which stands still.
 */
bool return_tracking_is_under_way(struct hook_thread *thread, const struct invocation *invocation, uint64_t sp);

/*
 * An unwinder was entered with the stack pointer at `slot`: puts back the return addresses of all calls outside of it,
 * until it is over. Its own return address, which it looks at, is left alone. `stub` is what it may be redirected to
 * later. NULL: no memory, and nothing is changed.
 */
struct invocation *return_tracking_unwind(struct hook_thread *thread, uint64_t slot, uint64_t stub);

/* Redirects an unwinder that has looked at its own return address. */
void return_tracking_redirect_unwinder(struct invocation *unwinder);

/* An unwinder is done with the stack: drops what is over, as entering would, and replaces return addresses again. */
void return_tracking_settle(struct hook_thread *thread, uint64_t slot);

/* Replaces the return addresses again of calls whose slots are at `sp` or above. */
void return_tracking_resume(struct hook_thread *thread, uint64_t sp);

/*
 * The return address that was at `slot` when a function was entered whose landing is there now; which may be another
 * landing, of a function that jumped to it. Of the calling thread, or one that is stopped. Signal-safe. False: it is
 * none.
 */
bool return_tracking_find(struct hook_thread *thread, uint64_t slot, uint64_t landing, uint64_t *return_address_out);

/*
 * Gives all stacks back what was there, as far as it can be written, for a process that is about to end: calls are not
 * forgotten, and other threads run on. Signal-safe.
 */
void return_tracking_show_all(void);

/*
 * Gives all stacks back what was there, and forgets all calls. All other threads stand still, outside of stubs and
 * gates, and nothing is hooked any more. False: nothing is done, since a thread is walking a stack for somebody.
 */
MUST_USE bool return_tracking_leave_all(void);

#endif
