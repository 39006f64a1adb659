/* SPDX-License-Identifier: MIT */
/*
 * Starting, asking and ending the helper process. Invariants. It runs with all signals blocked, since the caller has
 * them blocked; on a stack of its own, in the memory that both share; with the caller's thread pointer, so that
 * sanitizers keep off its code. Each waits for the other with a bound, or with the kernel's word that the other is
 * gone: a tracer that ends lets its threads go on.
 *
 * One caller at a time holds the lock, with all its signals blocked, so it cannot come here again in a handler. A
 * thread that is stopped may be anywhere in this file without holding the lock: waiting for it, or having just released
 * it. Neither blocks any other thread, see owner_lock.h.
 */
#include "process/tracing_helper.h"

#include "arch/clone_start.h"
#include "base/memory_map.h"
#include "base/raw_syscall.h"
#include "process/futex.h"
#include "process/owner_lock.h"

#include <asm/errno.h>
#include <asm/signal.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <stdatomic.h>

#define LOCK_TIMEOUT_MS  10000u
#define END_TIMEOUT_MS   2000u
#define STACK_BYTES      (12u * 1024)
#define LINK_BYTES       64
#define SHORT_TURN_NS    100000u
#define DUMPABLE_BY_USER 1

static struct owner_lock helper_lock;

/* ---- entering --------------------------------------------------------------------------------------------------- */

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

int tracing_helper_enter(uint64_t *signals_out)
{
    uint64_t signals;
    int result;

    if (!children_share_pid_namespace())
        return -EOPNOTSUPP;
    signals = set_blocked_signals(UINT64_MAX);
    result = owner_lock_acquire(&helper_lock, LOCK_TIMEOUT_MS);
    if (result == 0)
        *signals_out = signals;
    else
        (void)set_blocked_signals(signals);
    return result;
}

void tracing_helper_leave(uint64_t signals)
{
    owner_lock_release(&helper_lock);
    (void)set_blocked_signals(signals);
}

/* ---- talking ---------------------------------------------------------------------------------------------------- */

UNSANITIZED bool tracing_helper_set_phase(struct tracing_helper *helper, uint32_t from, enum helper_phase to)
{
    /* Release: pairs with the acquire in tracing_helper_wait and wait_gone. */
    if (!atomic_compare_exchange_strong_explicit(&helper->phase, &from, to, memory_order_release, memory_order_relaxed))
        return false;
    futex_wake(&helper->phase, 1);
    return true;
}

UNSANITIZED uint32_t tracing_helper_wait(struct tracing_helper *helper, enum helper_phase phase, unsigned timeout_ms)
{
    struct futex_deadline deadline = futex_deadline_after(timeout_ms);
    const struct futex_deadline *bound = timeout_ms == 0 ? NULL : &deadline;
    uint32_t now;

    while ((now = atomic_load_explicit(&helper->phase, memory_order_acquire)) == phase)
        if (futex_wait(&helper->phase, phase, bound) == -ETIMEDOUT)
            break;
    return now;
}

/* ---- the helper's life ------------------------------------------------------------------------------------------ */

int tracing_helper_create(size_t struct_bytes, struct tracing_helper **helper_out)
{
    size_t memory_bytes = memory_round_to_pages(struct_bytes + STACK_BYTES);
    struct tracing_helper *helper;
    void *memory;
    int result = memory_map(memory_bytes, &memory);

    if (result != 0)
        return result;
    helper = memory;
    helper->memory_bytes = memory_bytes;
    helper->process = (int)raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0);
    helper->outcome = HELPER_NO_OUTCOME;
    atomic_store_explicit(&helper->phase, HELPER_STARTING, memory_order_relaxed);
    *helper_out = helper;
    return 0;
}

void tracing_helper_discard(struct tracing_helper *helper)
{
    memory_unmap(helper, helper->memory_bytes);
}

/* What sched_setattr takes, as of its first version. */
struct scheduling_attributes {
    uint32_t size_bytes;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns; /* of ordinary processes: how long they want to run at a time */
    uint64_t deadline_ns;
    uint64_t period_ns;
};

/*
 * It has little to do, which others wait for: whoever asks for less time at once gets it sooner, from Linux 6.12 on.
 * Before, this has no effect.
 */
UNSANITIZED static void ask_for_short_turns(void)
{
    struct scheduling_attributes scheduling;

    if (raw_syscall(__NR_sched_getattr, 0, (long)&scheduling, sizeof(scheduling), 0, 0, 0) != 0 ||
        scheduling.policy != SCHED_NORMAL)
        return;
    scheduling.runtime_ns = SHORT_TURN_NS;
    (void)raw_syscall(__NR_sched_setattr, 0, (long)&scheduling, 0, 0, 0, 0);
}

/* Ending lets threads go on that are still traced. */
UNSANITIZED static void helper_run(void *context)
{
    struct tracing_helper *helper = context;

    (void)raw_syscall(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
    if (raw_syscall(__NR_getppid, 0, 0, 0, 0, 0, 0) != helper->process)
        return;
    ask_for_short_turns();
    helper->run(helper);
}

int tracing_helper_start(struct tracing_helper *helper, void (*run)(struct tracing_helper *helper))
{
    const unsigned long flags = CLONE_VM | CLONE_FILES | CLONE_UNTRACED | CLONE_CHILD_CLEARTID;
    long pid;

    helper->run = run;
    pid = clone_start(flags, (uint8_t *)helper + helper->memory_bytes, &helper->phase, helper_run, helper);
    if (pid < 0) {
        tracing_helper_discard(helper);
        return (int)pid;
    }
    helper->pid = (int)pid;
    return 0;
}

/* Returns whether the helper was gone in time. */
static bool wait_gone(struct tracing_helper *helper, unsigned timeout_ms)
{
    struct futex_deadline deadline = futex_deadline_after(timeout_ms);
    uint32_t phase;

    while ((phase = atomic_load_explicit(&helper->phase, memory_order_acquire)) != HELPER_GONE)
        if (futex_wait(&helper->phase, phase, &deadline) == -ETIMEDOUT)
            return false;
    return true;
}

/* Should even SIGKILL fail, which it does on no sound system, its memory is left to it. */
int tracing_helper_end(struct tracing_helper *helper, unsigned timeout_ms)
{
    bool in_time = wait_gone(helper, timeout_ms);
    int outcome;

    if (!in_time) {
        (void)raw_syscall(__NR_kill, helper->pid, SIGKILL, 0, 0, 0, 0);
        if (!wait_gone(helper, END_TIMEOUT_MS))
            return -ETIMEDOUT;
    }
    while (raw_syscall(__NR_wait4, helper->pid, 0, __WALL, 0, 0, 0) == -EINTR)
        continue;
    outcome = helper->outcome;
    memory_unmap(helper, helper->memory_bytes);
    if (outcome == HELPER_NO_OUTCOME)
        return in_time ? -EIO : -ETIMEDOUT;
    return outcome;
}

/* ---- a process that is protected from being traced --------------------------------------------------------------- */

/* What protects it, as it was. */
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

uint32_t tracing_helper_allow(struct tracing_helper *helper, unsigned timeout_ms)
{
    struct protection protection;
    uint32_t phase;

    protection_lift(&protection, helper->pid);
    (void)tracing_helper_set_phase(helper, HELPER_REFUSED, CALLER_RETRY);
    phase = tracing_helper_wait(helper, CALLER_RETRY, timeout_ms);
    protection_restore(&protection);
    return phase;
}
