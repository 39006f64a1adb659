/* SPDX-License-Identifier: MIT */
/*
 * The threads of this process, as /proc/self/task shows them. A tid is what the kernel calls a thread in this process's
 * pid namespace. Threads start and end all the time, so an answer is about the past unless the caller holds the thread
 * in question. Raw system calls, no memory, no locks: callable from any thread, in signal handlers and inside the
 * target. A descriptor is open, close-on-exec, while /proc is read.
 */
#ifndef GAIT_PROCESS_THREAD_LIST_H
#define GAIT_PROCESS_THREAD_LIST_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

/* What a thread is doing. */
enum thread_state {
    THREAD_RUNNING,         /* or ready to */
    THREAD_SLEEPING,        /* in a wait that a signal ends */
    THREAD_UNINTERRUPTIBLE, /* in a wait that only its own event, or at most SIGKILL, ends */
    THREAD_STOPPED,         /* by job control */
    THREAD_TRACED,          /* stopped by its tracer */
    THREAD_ENDED,           /* dead or about to be: it runs no more code of the program */
    THREAD_STATE_OTHER,     /* one that kernels may have or get */
};

/* Called for each thread; false ends the enumeration. */
typedef bool (*thread_visit)(void *context, int tid);

/* The calling thread's. */
int thread_current(void);

/*
 * Calls `visit` for each thread, the calling one too. A thread that starts or ends meanwhile may be visited or not.
 * -ENOENT: there is no /proc; -EMFILE, -ENFILE: no descriptor left.
 */
MUST_USE int thread_list_visit(thread_visit visit, void *context);

/*
 * Stores the tids of the first `capacity` threads and in count_out how many there are, which may be more. Errors as
 * above.
 */
MUST_USE int thread_list_read(int *tids, size_t capacity, size_t *count_out);

/*
 * How many threads the kernel counts, those that have ended but are still listed among them. While a thread ends, an
 * enumeration may miss others; one that visited as many threads as there are has missed none. -ENOENT, -ENOSYS.
 */
MUST_USE int thread_list_count(size_t *count_out);

/* -ESRCH: no thread of this process, or there is no /proc; -EMFILE, -ENFILE; -EIO: the kernel's answer makes no sense.
 */
MUST_USE int thread_state_read(int tid, enum thread_state *state_out);

/* Whether the tid is a thread of this process that has not ended. Without /proc an ended main thread counts as alive.
 */
bool thread_exists(int tid);

#endif
