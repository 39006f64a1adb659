/* SPDX-License-Identifier: MIT */
/*
 * What hooks know of a thread of the process: the calls of hooked functions that it is in, a stack for listeners, where
 * its records go. Made when a thread first enters a hooked function, used again for another when it is dead.
 */
#ifndef GAIT_HOOK_HOOK_THREAD_H
#define GAIT_HOOK_HOOK_THREAD_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

struct hook_thread;

struct hook_threads_options {
    /* In a forked child, on its only thread, when it first enters a hooked function: before anything is told. */
    void (*forked)(void);
    /* Where the C library has a thread's errno; NULL: there is none that is known. */
    int *(*errno_location)(void);
};

/*
 * Takes the memory; before any stub runs. -ENOMEM; -EOPNOTSUPP: not on this CPU. A second call only sets the options.
 */
MUST_USE int hook_threads_begin(const struct hook_threads_options *options);

/* Calls of hooked functions that this thread makes are not told, until the same number of `listen` calls. */
void hook_thread_ignore(void);
void hook_thread_listen(void);

/* The same for all threads but this one, those to come included. One thread at a time: -EBUSY. */
MUST_USE int hook_thread_ignore_others(void);
void hook_thread_listen_to_others(void);

/* Gives back what is left of threads that have ended, and closes their lanes. Any thread. */
void hook_threads_collect(void);

#endif
