/* SPDX-License-Identifier: MIT */
/*
 * Signals of followed threads: their handlers are translated like all other code, and see the program's registers and
 * pc. See signal_actions.h for whose handlers, signal_stack.h for where they run.
 */
#ifndef GAIT_STALKER_SIGNAL_VIRTUALIZE_H
#define GAIT_STALKER_SIGNAL_VIRTUALIZE_H

#include <stdbool.h>

struct stalker_thread;

/*
 * The calling thread is in the engine for the first time, with its signals held. Then the kernel has a stack of ours
 * for signals. On the engine's stack.
 */
void signal_thread_begin(struct stalker_thread *thread);

/* It leaves for the last time, to the registers in its context. From the gate; does not return. */
_Noreturn void signal_thread_end(struct stalker_thread *thread);

/* Holds signals of the calling thread, which is in the engine, back until it is in the cache again. */
void signal_thread_hold(struct stalker_thread *thread);

/*
 * Of a thread whose signals are held: a filter of system calls may, or may no more, trap the one that is made for it.
 * Otherwise that would end the process. The thread has `was_trapped` then, and the result of the call means nothing.
 */
void signal_thread_let_traps(const struct stalker_thread *thread, bool may_come);

/*
 * What the kernel does when a thread raises a signal itself: its handler begins when the thread goes on, at the
 * registers in its context. One that is blocked or ignored ends the process. In the engine; `info` is a siginfo_t.
 */
void signal_thread_raise(struct stalker_thread *thread, int signal, const void *info);

/* The process ends by that signal, whatever the program has for it. */
void signal_thread_die(struct stalker_thread *thread, int signal);

/* The thread returns from a handler: makes its rt_sigreturn. Does not return. */
_Noreturn void signal_return(struct stalker_thread *thread);

#endif
