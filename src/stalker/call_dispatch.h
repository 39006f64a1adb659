/* SPDX-License-Identifier: MIT */
/*
 * Syscall user dispatch: a thread has SIGSYS sent to itself instead of making the calls that come from outside of a
 * range, unless a byte of its own says otherwise. The kernel would look at where calls are made in the cache, and at
 * ours; so it is told nothing while the thread is followed. All calls of such a thread come to the engine, which knows
 * where the program makes them, and does what the kernel would: before filters of system calls and whoever traces.
 *
 * A setting is its thread's alone: neither a new thread nor a child has it.
 */
#ifndef GAIT_STALKER_CALL_DISPATCH_H
#define GAIT_STALKER_CALL_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

struct stalker_engine;
struct stalker_thread;
struct system_call;

/* In the table of system calls: some thread has them dispatched. */
#define SYSTEM_CALL_DISPATCHED 0x40u

struct call_dispatch {
    uint32_t mode;  /* PR_SYS_DISPATCH_OFF, or how the rest was asked for */
    uint64_t start; /* calls that return into the range pass; beyond the end it goes on at 0 */
    uint64_t size;
    uint64_t selector; /* the address of the byte; 0: there is none */
    uint64_t passed;   /* the last call in the range that was let pass: its instruction; 0: none */
};

/* Whether the call asks for that: a prctl. */
bool call_dispatch_is_set_by(const struct system_call *call);

/* Does what it asks for, but in the kernel. Returns what the kernel does. */
long call_dispatch_set(struct stalker_thread *thread, const struct system_call *call);

/*
 * Whether the call at the thread's pc, which returns to `next`, is not to be made: then the thread has its signal,
 * SIGSYS as a rule, when it goes on behind it. `architecture` is what the signal says of the call.
 */
bool call_dispatch_holds(struct stalker_thread *thread, long number, uint64_t next, uint32_t architecture);

/*
 * The kernel is to do it again, since the thread goes on natively. Behind this it may make one call of ours, which is
 * rt_sigreturn: where that returns `own_return`, or by the instruction at the address that this returns, if it is not
 * 0.
 */
uint64_t call_dispatch_leave(const struct call_dispatch *dispatch, uint64_t own_return);

#endif
