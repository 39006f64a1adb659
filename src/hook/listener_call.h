/* SPDX-License-Identifier: MIT */
/*
 * Calling the listeners of a function. On the thread that makes the call, on its stack for listeners, while it ignores
 * calls (HOOK_IGNORING_LISTENER). No libc.
 */
#ifndef GAIT_HOOK_LISTENER_CALL_H
#define GAIT_HOOK_LISTENER_CALL_H

#include "arch/vector_state.h"
#include "gait/cpu_context.h"

#include <stdbool.h>
#include <stdint.h>

struct gait_invocation;
struct hook_thread;
struct invocation;

/*
 * A function was entered, of which the invocation is; the context is complete but for its pc. Returns how the thread
 * goes on: HOOK_OUTCOME_*; unless it is HOOK_OUTCOME_GO, the invocation is gone.
 */
uint32_t listener_call_enter(struct hook_thread *thread, struct invocation *invocation, struct gait_cpu_context *cpu);

/* It has returned; the invocation is not on the thread's stack of them any more. */
uint32_t listener_call_leave(struct hook_thread *thread, struct invocation *invocation, struct gait_cpu_context *cpu);

/* It never will. */
void listener_call_unwound(struct hook_thread *thread, struct invocation *invocation);

/* A function whose return is not seen, or an instruction that is probed. */
uint32_t listener_call_once(struct hook_thread *thread, uint64_t stub, struct gait_cpu_context *cpu);

/* The thread that a listener is called on, for listeners of our own: quicker than hook_thread_current(). */
struct hook_thread *listener_call_thread(const struct gait_invocation *invocation);

/* A call whose replacement runs. */
struct replaced_call {
    uint64_t function;
    uint64_t return_address; /* the caller's */
    void *data;              /* of the replacement */
    uint32_t depth;
};

/*
 * The innermost call of the thread, the calling one, whose replacement runs. What was jumped out of, and not noticed
 * yet, lies below `sp`, where the thread is on its stack. False: there is none. Signal-safe.
 */
bool listener_call_replaced(struct hook_thread *thread, uint64_t sp, struct replaced_call *call_out);

/*
 * Finds the program's vector registers for a listener that was called with that context, on the calling thread. They
 * are nowhere if the call was unwound, or if they take too much memory. False: the context is that of no listener.
 */
bool listener_call_find_vectors(const struct gait_cpu_context *cpu, struct vector_state_place *place_out);

#endif
