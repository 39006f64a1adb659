/* SPDX-License-Identifier: MIT */
/* ptrace, as far as threads are stopped by it; sanitizers keep off, see process/tracing_helper.c. No state, no lock. */
#include "process/thread_tracing.h"

#include "base/raw_syscall.h"
#include "process/restartable_sequence.h"

#include <asm/errno.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/unistd.h>
#include <linux/elf.h>
#include <linux/ptrace.h>
#include <linux/wait.h>
#include <stdbool.h>

_Static_assert(sizeof(siginfo_t) <= sizeof(((struct traced_thread *)0)->stop), "what waitid writes");
_Static_assert(sizeof(struct ptrace_rseq_configuration) <= sizeof(((struct traced_thread *)0)->sequences),
               "what ptrace writes");

void thread_tracing_init(struct traced_thread *thread, int tid)
{
    thread->tid = tid;
    thread->registers_part = (struct iovec){&thread->registers, thread_registers_size_bytes()};
}

UNSANITIZED static int trace(const struct traced_thread *thread, long request, long address, long data)
{
    return (int)raw_syscall(__NR_ptrace, request, thread->tid, address, data, 0, 0);
}

UNSANITIZED int thread_tracing_seize(struct traced_thread *thread, int process)
{
    int result = trace(thread, PTRACE_SEIZE, 0, 0);

    if (result == 0 && raw_syscall(__NR_tgkill, process, thread->tid, 0, 0, 0, 0) != 0)
        return -ESRCH;
    return result;
}

UNSANITIZED int thread_tracing_interrupt(struct traced_thread *thread)
{
    return trace(thread, PTRACE_INTERRUPT, 0, 0);
}

UNSANITIZED static const siginfo_t *stop_of(const struct traced_thread *thread)
{
    return (const siginfo_t *)thread->stop;
}

UNSANITIZED static int wait_for_stop(struct traced_thread *thread)
{
    long result;

    do
        result = raw_syscall(__NR_waitid, P_PID, thread->tid, (long)thread->stop, WSTOPPED | WEXITED | WNOWAIT | __WALL,
                             0, 0);
    while (result == -EINTR);
    if (result != 0)
        return (int)result;
    return stop_of(thread)->si_code == CLD_TRAPPED ? 0 : -ESRCH;
}

/*
 * Any stop in front of the one that was asked for is for a signal, which is given back to the thread; it cancels what
 * was asked for, so that is asked for again.
 */
UNSANITIZED int thread_tracing_wait(struct traced_thread *thread)
{
    int result = 0;

    while (result == 0) {
        result = wait_for_stop(thread);
        if (result != 0 || stop_of(thread)->si_status >> 8 == PTRACE_EVENT_STOP)
            return result;
        result = trace(thread, PTRACE_INTERRUPT, 0, 0);
        if (result == 0)
            result = trace(thread, PTRACE_CONT, 0, stop_of(thread)->si_status & 0xff);
    }
    return result;
}

/* Kernels before 5.13 do not say; a thread that is in a sequence makes no system call. */
UNSANITIZED static bool leave_sequence(struct traced_thread *thread)
{
    const struct ptrace_rseq_configuration *sequences = (const struct ptrace_rseq_configuration *)thread->sequences;
    uint64_t area = 0;

    if (trace(thread, PTRACE_GET_RSEQ_CONFIGURATION, sizeof(*sequences), (long)thread->sequences) > 0)
        area = sequences->rseq_abi_pointer;
    return area != 0 && restartable_sequence_abort(area, &thread->registers);
}

UNSANITIZED int thread_tracing_read(struct traced_thread *thread)
{
    size_t expected = thread->registers_part.iov_len;
    int result = trace(thread, PTRACE_GETREGSET, NT_PRSTATUS, (long)&thread->registers_part);

    if (result != 0)
        return result;
    if (thread->registers_part.iov_len != expected)
        return -EOPNOTSUPP;
    if (leave_sequence(thread) || thread_registers_undo_interruption(&thread->registers))
        return thread_tracing_write(thread);
    return 0;
}

UNSANITIZED int thread_tracing_write(struct traced_thread *thread)
{
    return trace(thread, PTRACE_SETREGSET, NT_PRSTATUS, (long)&thread->registers_part);
}

UNSANITIZED void thread_tracing_release(struct traced_thread *thread)
{
    (void)trace(thread, PTRACE_DETACH, 0, 0);
}

UNSANITIZED void thread_tracing_bury(struct traced_thread *thread)
{
    (void)raw_syscall(__NR_waitid, P_PID, thread->tid, (long)thread->stop, WEXITED | WNOHANG | __WALL, 0, 0);
}
