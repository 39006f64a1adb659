/* SPDX-License-Identifier: MIT */
/*
 * Running a function on another thread of this process: the thread is stopped wherever it is (process/thread_stop.h),
 * runs the function on a stack of ours and goes on exactly as it was: registers, flags, vector state, and the system
 * call that it waited in. The function runs with all signals held back, and like all code of ours in the middle of
 * anything: no libc, no lock of the program's. Callable from any thread, in signal handlers and inside the target.
 *
 * The system call is begun again by the thread itself. Should a signal come for it meanwhile, its handler runs first
 * and the call is begun again even if the program wanted EINTR, as if the signal had come right before the call; a
 * sleep ends with EINTR then. Where user shadow stacks are on, a thread cannot be taken back and must not be run on.
 */
#ifndef GAIT_PROCESS_THREAD_RUN_H
#define GAIT_PROCESS_THREAD_RUN_H

#include "arch/thread_landing.h"
#include "base/attributes.h"

#include <stdbool.h>

struct thread_run;

/*
 * Begins to run the function on the thread. The run stays the caller's until thread_run_end; function and context must
 * stay good as long. Errors as thread_modify.
 */
MUST_USE int thread_run_begin(int tid, thread_function function, void *context, struct thread_run **run_out);

/*
 * Looks at the registers of a stopped thread before it is let run the function. 0: it may; -errno: it goes on as it
 * was, and that is returned. What a thread_change may do, it may.
 */
typedef int (*thread_accept)(void *context, const struct thread_registers *registers);

/* The same if `accept`, with the same context, has nothing against it. */
MUST_USE int thread_run_begin_if(int tid, thread_accept accept, thread_function function, void *context,
                                 struct thread_run **run_out);

/* Whether the function has returned. */
bool thread_run_is_done(const struct thread_run *run);

/* Waits until the function has returned. -ETIMEDOUT: it has not yet; -ESRCH: the thread ended before it did. */
MUST_USE int thread_run_wait(struct thread_run *run, unsigned timeout_ms);

/*
 * Waits until the function has returned and gives the run back. -ETIMEDOUT: it has not yet, the run is still the
 * caller's; -ESRCH: the thread ended before it did, the run is given back.
 */
MUST_USE int thread_run_end(struct thread_run *run, unsigned timeout_ms);

/*
 * Both in one. After -ETIMEDOUT the function may still be running, or begin to: its memory, function and context must
 * stay as they are for good.
 */
MUST_USE int thread_run(int tid, thread_function function, void *context, unsigned timeout_ms);

#endif
