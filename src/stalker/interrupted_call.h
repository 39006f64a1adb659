/* SPDX-License-Identifier: MIT */
/*
 * The system call that a thread waited in when it was sent to its entrance or out of the cache. It begins the call
 * again when it goes on, unless a handler is to run first: then the call has to end as if it had been under way, or the
 * thread would wait for what has been already. On the thread itself, or while it is stopped.
 */
#ifndef GAIT_STALKER_INTERRUPTED_CALL_H
#define GAIT_STALKER_INTERRUPTED_CALL_H

#include "arch/thread_registers.h"

#include <stdint.h>

struct gait_cpu_context;
struct signal_action;
struct stalker_thread;

struct interrupted_call {
    uint64_t pc; /* of the instruction that makes it */
    enum thread_restart restart;
};

/* The thread was stopped with these registers, of which its context was made. */
void interrupted_call_note(struct stalker_thread *thread, const struct thread_registers *registers);

/* The thread has come to where it makes the call, or goes on elsewhere: from now on the kernel sees to it. */
void interrupted_call_forget(struct stalker_thread *thread);

/* A handler is about to run at that state, which is changed if the call ends by it. Signal-safe. */
void interrupted_call_handled(struct stalker_thread *thread, struct gait_cpu_context *cpu,
                              const struct signal_action *action);

/* The same where the thread, which holds all signals back, is about to let those come that it does not block. */
void interrupted_call_leave(struct stalker_thread *thread);

#endif
