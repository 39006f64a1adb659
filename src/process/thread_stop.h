/* SPDX-License-Identifier: MIT */
/*
 * Stopping another thread of this process for a moment, to see and change its general registers. The program does not
 * notice: no signal is sent, none is lost or doubled, a job-control stop stays one, and system calls go on.
 *
 * Linux lets no thread trace another one of the same process, so a short-lived process that shares our memory does it.
 * It is not seen by the program's wait(), makes no SIGCHLD, and ends with the program if that is killed meanwhile; only
 * a wait for children of any kind (__WALL, __WCLONE) could see it.
 *
 * Callable from any thread, in signal handlers and inside the target: no libc, no memory of the program's. While it
 * runs, all signals for the calling thread are held back. Calls are made one after the other; two threads may modify
 * each other.
 *
 * System calls. A thread that waits in one is taken out of it. When it goes on, the kernel begins the call again, and
 * sleeps only for what is left. It decides so by the registers as they are after `change`:
 * thread_registers_in_system_call() says that it is going to, and arch/thread_registers.h what this means to who moves
 * the pc. The calls for which kernels have no such restart (epoll_wait, sigtimedwait, semop, io_uring_enter, those on
 * sockets with a timeout) are begun again too, but a relative timeout of theirs begins again with them.
 *
 * Restartable sequences (rseq). A thread stopped in one has been interrupted, and is shown at its abort handler
 * already. Before Linux 5.13 the kernel does not say where they are: there the pc of a thread in one had better not be
 * moved.
 */
#ifndef GAIT_PROCESS_THREAD_STOP_H
#define GAIT_PROCESS_THREAD_STOP_H

#include "base/attributes.h"

struct thread_registers;

/*
 * Called by thread_modify in the calling thread, while the other one is stopped; that may be anywhere, also inside of a
 * malloc, so nothing that takes a lock of the program's may be called. It has two seconds; then the thread goes on as
 * it was. 0: the registers are written back; 1: the thread's stay as they are; -errno: the same, and thread_modify
 * returns it.
 */
typedef int (*thread_change)(void *context, struct thread_registers *registers);

/*
 * Stops thread `tid`, lets `change` look at and change its registers, and lets it go on. 0: done, or left alone because
 * `change` said so. What can go wrong, with the thread's registers as they were and the thread running:
 *
 * -EINVAL      it is the calling thread
 * -ESRCH       it is no thread of this process, or has ended
 * -EPERM, -EACCES    another process traces it (a debugger, strace), or the system forbids tracing it
 * -ETIMEDOUT   it did not stop within two seconds, since it is in a wait that cannot be interrupted, vfork() for one;
 *              `change` took two seconds, or other calls of this function ten
 * -EDEADLK     called by a `change`
 * -EIO         the tracing process was killed, and if that was after `change`, it is not known whether the
 *              registers were written; also what the kernel says of registers that cannot be
 * -EOPNOTSUPP  the thread runs 32-bit code; or children of the calling thread get another pid namespace (which the
 *              kernel tells from Linux 4.12 on); or it is not known how to do this on this CPU yet
 * -EAGAIN, -ENOMEM    no process or no memory to be had
 *
 * Where the system protects the process from being traced, it is made traceable for as long as it takes to begin:
 * dumpable (PR_SET_DUMPABLE), and by a declared tracer where Yama wants one (PR_SET_PTRACER); a tracer that the program
 * itself had declared is then forgotten.
 */
MUST_USE int thread_modify(int tid, thread_change change, void *context);

#endif
