/* SPDX-License-Identifier: MIT */
/*
 * What a tracing process does to a thread: take hold of it, stop it, see and change its registers, let it go. For
 * processes that share our memory without being us (process/tracing_helper.h): raw system calls only, nothing that
 * needs a thread pointer, no locks. The program does not notice: no signal is lost or doubled, a job-control stop stays
 * one, system calls go on; see process/thread_stop.h.
 */
#ifndef GAIT_PROCESS_THREAD_TRACING_H
#define GAIT_PROCESS_THREAD_TRACING_H

#include "arch/thread_registers.h"
#include "base/attributes.h"

#include <linux/uio.h>
#include <stdint.h>

/* A thread in the tracer's hands. Memory of both processes: what the kernel writes is here, not on a stack. */
struct traced_thread {
    struct thread_registers registers;
    struct iovec registers_part; /* for the kernel: where they are */
    uint64_t stop[16];           /* the kernel's siginfo_t, whose header and libc's cannot both be included */
    uint64_t sequences[3];       /* the kernel's struct ptrace_rseq_configuration */
    int tid;
};

void thread_tracing_init(struct traced_thread *thread, int tid);

/*
 * Begins to trace a thread of the process. Once that is so, its tid cannot come to mean another one; only then is it
 * looked at whose it is. -ESRCH: it has ended, or is another process's; -EPERM: another process traces it, or may not
 * be.
 */
MUST_USE int thread_tracing_seize(struct traced_thread *thread, int process);

/* Asks it to stop; thread_tracing_wait waits for that. -ESRCH. */
MUST_USE int thread_tracing_interrupt(struct traced_thread *thread);

/*
 * Comes back when the thread is in the stop that was asked for, or in a job-control stop. Looks at stops without taking
 * notice of them, so that a signal on its way to the thread is delivered even if the tracer is killed at that moment.
 * -ESRCH: it has ended.
 */
MUST_USE int thread_tracing_wait(struct traced_thread *thread);

/* Fills the registers of a stopped thread; one in a restartable sequence has left it. -EOPNOTSUPP: 32-bit code. */
MUST_USE int thread_tracing_read(struct traced_thread *thread);

/* Gives it the registers. */
MUST_USE int thread_tracing_write(struct traced_thread *thread);

/* Lets a stopped thread go on. The end of the tracer does so too. */
void thread_tracing_release(struct traced_thread *thread);

/* Takes notice of the end of a thread; else it stays on lists until the tracer ends. */
void thread_tracing_bury(struct traced_thread *thread);

#endif
