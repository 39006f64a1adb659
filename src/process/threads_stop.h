/* SPDX-License-Identifier: MIT */
/*
 * Stopping all other threads of this process at once, to change what they all run, and where some of them are in it.
 * As with one thread (process/thread_stop.h) the program does not notice: no signals, system calls go on, and
 * restartable sequences have been left. Threads that start while others are being stopped are stopped too.
 *
 * Processes that share our memory, as the child of a vfork() does for a moment, are none of our threads. While there is
 * a vfork(), its thread cannot be stopped, so none is.
 *
 * Callable from any thread, in signal handlers and inside the target: no libc, no memory of the program's. While it
 * runs, all signals for the calling thread are held back.
 */
#ifndef GAIT_PROCESS_THREADS_STOP_H
#define GAIT_PROCESS_THREADS_STOP_H

#include "arch/thread_registers.h"
#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

/* A thread that stands still. */
struct stopped_thread {
    int tid;
    bool is_changed; /* set this for the registers to be written back */
    struct thread_registers *registers;
};

/*
 * Called in the calling thread while all others stand still; they may be anywhere, also inside of a malloc, so nothing
 * that takes a lock of the program's may be called. There is no bound: they stand for as long as it takes. What it
 * returns is returned; registers of threads marked as changed are written back in any case.
 */
typedef int (*threads_change)(void *context, struct stopped_thread *threads, size_t count);

/*
 * Who can show stopped threads: this process itself, or a controller who holds them already. Calls `change` once, with
 * all threads but the calling one.
 */
typedef int (*threads_source)(void *source_context, threads_change change, void *context);

/*
 * Stops all other threads, calls `change`, lets them go on. With no others, no helper is needed.
 *
 * -EPERM, -EACCES    another process traces one (a debugger, strace), or the system forbids tracing it
 * -ETIMEDOUT   one did not stop within two seconds, since it is in a wait that cannot be interrupted, vfork() for one,
 *              or within ten for no such reason; or others used this, or thread_modify, for ten
 * -EDEADLK     called by a `change`
 * -EIO         the tracing process was killed; if that was after `change`, it is not known whether registers
 *              were written
 * -EOPNOTSUPP  a thread runs 32-bit code; or children of the calling thread get another pid namespace; or it is not
 *              known how to do this on this CPU yet
 * -EAGAIN, -ENOMEM, -ENOENT    no process, no memory, no /proc to be had
 *
 * But for -EIO, `change` was not called then. What thread_modify does to protected processes, this does too.
 */
MUST_USE int threads_stop(threads_change change, void *context);

#endif
