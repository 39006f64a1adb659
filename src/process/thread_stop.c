/* SPDX-License-Identifier: MIT */
/*
 * Stopping a thread by way of a helper process. The caller and the helper talk through `struct exchange`: one of them
 * works while the other waits for `phase` to change, so that nothing in it needs a lock. When the helper ends, in
 * whatever way, the kernel itself stores HELPER_GONE: the caller never waits for somebody who is not there, and never
 * longer than a bound, after which it ends the helper. Nor does the helper: were the caller stopped by job control
 * while the thread waits for it, the process could never come to a full stop. A tracer that ends lets its thread go on.
 *
 * Invariants. The helper runs with all signals blocked, on a stack of its own, with the caller's thread pointer: it
 * calls nothing but raw system calls, and sanitizers keep off its code. It looks at a stop without taking notice of it
 * (WNOWAIT), so that a signal on its way to the thread is delivered even if the helper is killed at that moment. Once
 * the helper traces a thread, its tid cannot come to mean another one; only then does it ask whose thread it is.
 *
 * One caller at a time holds the lock, with all its signals blocked, so it cannot come here again in a handler. The
 * thread that it stops may be anywhere in this file without holding the lock: waiting for it, or having just released
 * it. Neither keeps anybody else from going on, see owner_lock.h.
 */
#include "process/thread_stop.h"

#include "arch/clone_start.h"
#include "arch/thread_registers.h"
#include "base/memory_map.h"
#include "base/raw_syscall.h"
#include "process/futex.h"
#include "process/owner_lock.h"
#include "process/restartable_sequence.h"
#include "process/thread_list.h"

#include <asm/errno.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/unistd.h>
#include <linux/elf.h>
#include <linux/fcntl.h>
#include <linux/prctl.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <stdatomic.h>

#define LOCK_TIMEOUT_MS   10000u
#define STOP_TIMEOUT_MS   2000u
#define CHANGE_TIMEOUT_MS 2000u
#define END_TIMEOUT_MS    2000u
#define HELPER_BYTES      (16u * 1024)
#define LINK_BYTES        64
#define DUMPABLE_BY_USER  1

enum phase {
    HELPER_GONE, /* stored by the kernel */
    HELPER_STARTING,
    HELPER_REFUSED, /* the thread may not be traced; the caller may be able to change that */
    CALLER_RETRY,
    HELPER_STOPPED, /* the thread is stopped and its registers are here */
    CALLER_LEAVE,   /* let it go on as it was */
    CALLER_WRITE,   /* let it go on with these registers */
    HELPER_GAVE_UP, /* the caller took too long; it may itself be stopped by job control */
};

/* No -errno: nothing came of it, because the helper did not get that far. */
#define NO_OUTCOME 1

struct exchange {
    _Atomic uint32_t phase; /* of enum phase; a futex */
    int process;            /* ours, not the helper's */
    int tid;
    int outcome; /* the helper's; 0, -errno or NO_OUTCOME */
    struct thread_registers registers;
    struct iovec registers_part; /* for the kernel: where they are */
    siginfo_t stop;
    struct ptrace_rseq_configuration sequences;
};

static struct owner_lock modify_lock;

/* ---- what both do ----------------------------------------------------------------------------------------------- */

/* Returns whether the phase was still `from`: it may have ended. */
UNSANITIZED static bool tell(struct exchange *exchange, uint32_t from, enum phase to)
{
    /* Release: pairs with the acquire in wait_while and helper_wait_gone. */
    if (!atomic_compare_exchange_strong_explicit(&exchange->phase, &from, to, memory_order_release,
                                                 memory_order_relaxed))
        return false;
    futex_wake(&exchange->phase, 1);
    return true;
}

/* Returns the next phase, or `phase` when the time is over. */
UNSANITIZED static uint32_t wait_while(struct exchange *exchange, enum phase phase, unsigned timeout_ms)
{
    struct futex_deadline deadline = futex_deadline_after(timeout_ms);
    uint32_t now;

    while ((now = atomic_load_explicit(&exchange->phase, memory_order_acquire)) == phase)
        if (futex_wait(&exchange->phase, phase, &deadline) == -ETIMEDOUT)
            break;
    return now;
}

/* ---- the helper ------------------------------------------------------------------------------------------------- */

UNSANITIZED static int trace(const struct exchange *exchange, long request, long address, long data)
{
    return (int)raw_syscall(__NR_ptrace, request, exchange->tid, address, data, 0, 0);
}

/* Asks the caller for help once. */
UNSANITIZED static int seize(struct exchange *exchange)
{
    int result = trace(exchange, PTRACE_SEIZE, 0, 0);

    if (result == -EPERM) {
        (void)tell(exchange, HELPER_STARTING, HELPER_REFUSED);
        if (wait_while(exchange, HELPER_REFUSED, CHANGE_TIMEOUT_MS) != CALLER_RETRY)
            return -EPERM;
        result = trace(exchange, PTRACE_SEIZE, 0, 0);
    }
    if (result == 0 && raw_syscall(__NR_tgkill, exchange->process, exchange->tid, 0, 0, 0, 0) != 0)
        return -ESRCH;
    return result;
}

UNSANITIZED static int wait_for_stop(struct exchange *exchange)
{
    long result;

    do
        result = raw_syscall(__NR_waitid, P_PID, exchange->tid, (long)&exchange->stop,
                             WSTOPPED | WEXITED | WNOWAIT | __WALL, 0, 0);
    while (result == -EINTR);
    if (result != 0)
        return (int)result;
    return exchange->stop.si_code == CLD_TRAPPED ? 0 : -ESRCH;
}

/*
 * Comes back when the thread is in the stop that was asked for, or in a job-control stop. Any stop in front of it is
 * for a signal, which is given back to the thread; it cancels what was asked for, so that is asked for again.
 */
UNSANITIZED static int stop(struct exchange *exchange)
{
    int result = trace(exchange, PTRACE_INTERRUPT, 0, 0);

    while (result == 0) {
        result = wait_for_stop(exchange);
        if (result != 0 || exchange->stop.si_status >> 8 == PTRACE_EVENT_STOP)
            return result;
        result = trace(exchange, PTRACE_INTERRUPT, 0, 0);
        if (result == 0)
            result = trace(exchange, PTRACE_CONT, 0, exchange->stop.si_status & 0xff);
    }
    return result;
}

UNSANITIZED static int write_registers(struct exchange *exchange)
{
    return trace(exchange, PTRACE_SETREGSET, NT_PRSTATUS, (long)&exchange->registers_part);
}

/* Kernels before 5.13 do not say; a thread that is in a sequence makes no system call. */
UNSANITIZED static bool leave_sequence(struct exchange *exchange)
{
    uint64_t area = 0;

    if (trace(exchange, PTRACE_GET_RSEQ_CONFIGURATION, sizeof(exchange->sequences), (long)&exchange->sequences) > 0)
        area = exchange->sequences.rseq_abi_pointer;
    return area != 0 && restartable_sequence_abort(area, &exchange->registers);
}

UNSANITIZED static int read_registers(struct exchange *exchange)
{
    size_t expected = exchange->registers_part.iov_len;
    int result = trace(exchange, PTRACE_GETREGSET, NT_PRSTATUS, (long)&exchange->registers_part);

    if (result != 0)
        return result;
    if (exchange->registers_part.iov_len != expected)
        return -EOPNOTSUPP;
    if (leave_sequence(exchange) || thread_registers_undo_interruption(&exchange->registers))
        return write_registers(exchange);
    return 0;
}

/* Lets the caller decide. Until then nobody but the helper changes the phase. */
UNSANITIZED static int hand_over(struct exchange *exchange)
{
    uint32_t phase = atomic_load_explicit(&exchange->phase, memory_order_relaxed);

    (void)tell(exchange, phase, HELPER_STOPPED);
    phase = wait_while(exchange, HELPER_STOPPED, CHANGE_TIMEOUT_MS);
    if (phase == HELPER_STOPPED && tell(exchange, HELPER_STOPPED, HELPER_GAVE_UP))
        return -ETIMEDOUT;
    phase = atomic_load_explicit(&exchange->phase, memory_order_acquire);
    return phase == CALLER_WRITE ? write_registers(exchange) : 0;
}

/* Ending lets a thread go on that is still traced. */
UNSANITIZED static void helper_run(void *context)
{
    struct exchange *exchange = context;
    int result;

    (void)raw_syscall(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
    if (raw_syscall(__NR_getppid, 0, 0, 0, 0, 0, 0) != exchange->process)
        return;
    result = seize(exchange);
    if (result == 0)
        result = stop(exchange);
    if (result == 0)
        result = read_registers(exchange);
    if (result == 0)
        result = hand_over(exchange);
    exchange->outcome = result;
    (void)trace(exchange, PTRACE_DETACH, 0, 0);
}

/* ---- the caller ------------------------------------------------------------------------------------------------- */

/* The helper, as its parent knows it. */
struct helper {
    struct exchange *exchange; /* at the beginning of HELPER_BYTES; its stack is the rest */
    int pid;
};

static int helper_start(struct helper *helper, int tid)
{
    const unsigned long flags = CLONE_VM | CLONE_FILES | CLONE_UNTRACED | CLONE_CHILD_CLEARTID;
    struct exchange *exchange;
    void *memory;
    int result = memory_map(HELPER_BYTES, &memory);
    long pid;

    if (result != 0)
        return result;
    exchange = memory;
    exchange->process = (int)raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0);
    exchange->tid = tid;
    exchange->outcome = NO_OUTCOME;
    exchange->registers_part = (struct iovec){&exchange->registers, thread_registers_size_bytes()};
    atomic_store_explicit(&exchange->phase, HELPER_STARTING, memory_order_relaxed);
    pid = clone_start(flags, (uint8_t *)memory + HELPER_BYTES, &exchange->phase, helper_run, exchange);
    if (pid < 0) {
        memory_unmap(memory, HELPER_BYTES);
        return (int)pid;
    }
    *helper = (struct helper){exchange, (int)pid};
    return 0;
}

/* Returns whether the helper was gone in time. */
static bool helper_wait_gone(struct exchange *exchange, unsigned timeout_ms)
{
    struct futex_deadline deadline = futex_deadline_after(timeout_ms);
    uint32_t phase;

    while ((phase = atomic_load_explicit(&exchange->phase, memory_order_acquire)) != HELPER_GONE)
        if (futex_wait(&exchange->phase, phase, &deadline) == -ETIMEDOUT)
            return false;
    return true;
}

/*
 * Waits until the helper is gone, ends it if it takes too long, and returns what came of it. Should even that fail,
 * which no sound system does, its memory is left to it.
 */
static int helper_end(struct helper *helper, unsigned timeout_ms)
{
    struct exchange *exchange = helper->exchange;
    bool in_time = helper_wait_gone(exchange, timeout_ms);
    int outcome;

    if (!in_time) {
        (void)raw_syscall(__NR_kill, helper->pid, SIGKILL, 0, 0, 0, 0);
        if (!helper_wait_gone(exchange, END_TIMEOUT_MS))
            return -ETIMEDOUT;
    }
    while (raw_syscall(__NR_wait4, helper->pid, 0, __WALL, 0, 0, 0) == -EINTR)
        continue;
    outcome = exchange->outcome;
    memory_unmap(exchange, HELPER_BYTES);
    if (outcome == NO_OUTCOME)
        return in_time ? -EIO : -ETIMEDOUT;
    return outcome;
}

/* What protects a process from being traced, as it was. */
struct protection {
    long dumpable;
    bool tracer_declared;
};

static long process_control(long option, long argument)
{
    return raw_syscall(__NR_prctl, option, argument, 0, 0, 0, 0);
}

static void protection_lift(struct protection *protection, int tracer)
{
    protection->dumpable = process_control(PR_GET_DUMPABLE, 0);
    if (protection->dumpable != DUMPABLE_BY_USER)
        (void)process_control(PR_SET_DUMPABLE, DUMPABLE_BY_USER);
    protection->tracer_declared = process_control(PR_SET_PTRACER, tracer) == 0;
}

/* Programs cannot set the kernel's third state of dumpable, "by root", so it becomes "not". */
static void protection_restore(const struct protection *protection)
{
    if (protection->tracer_declared)
        (void)process_control(PR_SET_PTRACER, 0);
    if (protection->dumpable != DUMPABLE_BY_USER)
        (void)process_control(PR_SET_DUMPABLE, 0);
}

static uint32_t allow_tracing(const struct helper *helper)
{
    struct protection protection;
    uint32_t phase;

    protection_lift(&protection, helper->pid);
    (void)tell(helper->exchange, HELPER_REFUSED, CALLER_RETRY);
    phase = wait_while(helper->exchange, CALLER_RETRY, STOP_TIMEOUT_MS);
    protection_restore(&protection);
    return phase;
}

static int modify_by_helper(struct helper *helper, thread_change change, void *context)
{
    struct exchange *exchange = helper->exchange;
    uint32_t phase = wait_while(exchange, HELPER_STARTING, STOP_TIMEOUT_MS);
    int decision, outcome;

    if (phase == HELPER_REFUSED)
        phase = allow_tracing(helper);
    if (phase != HELPER_STOPPED)
        return helper_end(helper, 0);
    decision = change(context, &exchange->registers);
    (void)tell(exchange, HELPER_STOPPED, decision == 0 ? CALLER_WRITE : CALLER_LEAVE);
    outcome = helper_end(helper, END_TIMEOUT_MS);
    if (decision != 0)
        return decision < 0 ? decision : 0;
    return outcome;
}

static int modify_locked(int tid, thread_change change, void *context)
{
    struct helper helper;
    int result = helper_start(&helper, tid);

    if (result == 0)
        result = modify_by_helper(&helper, change, context);
    if (result == -EPERM && !thread_exists(tid))
        return -ESRCH;
    return result;
}

/*
 * A helper in another pid namespace could not name the thread, and would leave that namespace without its first
 * process, in which the program could start no more. There is no link to read as long as that namespace is empty.
 */
static bool children_share_pid_namespace(void)
{
    char own[LINK_BYTES], children[LINK_BYTES];
    long own_size =
        raw_syscall(__NR_readlinkat, AT_FDCWD, (long)"/proc/thread-self/ns/pid", (long)own, LINK_BYTES, 0, 0);
    long size = raw_syscall(__NR_readlinkat, AT_FDCWD, (long)"/proc/thread-self/ns/pid_for_children", (long)children,
                            LINK_BYTES, 0, 0);

    if (own_size < 0)
        return true;
    return size == own_size && __builtin_memcmp(own, children, (size_t)size) == 0;
}

/* 64 bits: one for each signal that the kernel has. */
static uint64_t set_blocked_signals(uint64_t blocked)
{
    uint64_t before = 0;

    (void)raw_syscall(__NR_rt_sigprocmask, SIG_SETMASK, (long)&blocked, (long)&before, sizeof(before), 0, 0);
    return before;
}

int thread_modify(int tid, thread_change change, void *context)
{
    uint64_t blocked;
    int result;

    if (tid == thread_current())
        return -EINVAL;
    if (!thread_exists(tid))
        return -ESRCH;
    if (!children_share_pid_namespace())
        return -EOPNOTSUPP;
    blocked = set_blocked_signals(UINT64_MAX);
    result = owner_lock_acquire(&modify_lock, LOCK_TIMEOUT_MS);
    if (result == 0) {
        result = modify_locked(tid, change, context);
        owner_lock_release(&modify_lock);
    }
    (void)set_blocked_signals(blocked);
    return result;
}
