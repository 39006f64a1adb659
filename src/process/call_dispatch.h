/* SPDX-License-Identifier: MIT */
/*
 * Syscall user dispatch: a thread has SIGSYS sent to itself instead of making the calls that come from outside of a
 * range, unless a byte of its own says otherwise. What the kernel does of it, done by us: before filters of system
 * calls and whoever traces. A setting is its thread's alone: neither a new thread nor a child has it. Inside the
 * target.
 */
#ifndef GAIT_PROCESS_CALL_DISPATCH_H
#define GAIT_PROCESS_CALL_DISPATCH_H

#include <stdbool.h>
#include <stdint.h>

struct call_dispatch {
    uint32_t mode;  /* PR_SYS_DISPATCH_OFF, or how the rest was asked for */
    uint64_t start; /* calls that return into the range pass; beyond the end it goes on at 0 */
    uint64_t size;
    uint64_t selector; /* the address of the byte; 0: there is none */
    uint64_t passed;   /* the last call in the range that was let pass: its instruction; 0: none */
};

/* Whether the call asks for that: a prctl. */
bool call_dispatch_is_set_by(long number, const long *arguments);

/* Does what it asks for, but in the kernel. Returns what the kernel does. */
long call_dispatch_set(struct call_dispatch *dispatch, const long *arguments);

enum call_dispatch_answer {
    CALL_PASSES,
    CALL_IS_HELD,       /* the thread has its signal, SIGSYS, instead */
    CALL_ENDS_BY_SYS,   /* the byte has no meaning: the process ends by that signal, whatever it has for it */
    CALL_ENDS_BY_FAULT, /* it cannot be read: by SIGSEGV */
};

/* What becomes of a call by the instruction at `pc`, which returns to `next`. */
enum call_dispatch_answer call_dispatch_ask(struct call_dispatch *dispatch, uint64_t pc, uint64_t next);

/* What the signal of one that is held says, in a siginfo_t. `architecture` is that of the call's convention. */
void call_dispatch_describe(void *info_out, long number, uint64_t next, uint32_t architecture);

/*
 * The kernel is to do it again, since the thread goes on natively. Behind this it may make one call of ours, which is
 * rt_sigreturn: where that returns `own_return`, or by the instruction at the address that this returns, if it is not
 * 0.
 */
uint64_t call_dispatch_leave(const struct call_dispatch *dispatch, uint64_t own_return);

#endif
