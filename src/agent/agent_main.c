/* SPDX-License-Identifier: MIT */
/*
 * The agent's only entrance, for threads that the controller sends here (protocol/agent_call.h). While one is here, all
 * other threads of the target are stopped or followed, and those that are stopped may hold the engine's locks: so what
 * is done about them is tried, never waited for.
 */
#include "agent/session.h"
#include "base/attributes.h"
#include "base/raw_syscall.h"
#include "hook/hook_thread.h"
#include "process/futex.h"
#include "protocol/agent_call.h"
#include "ring/event_record.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/prctl.h>
#include <linux/time_types.h>
#include <stdatomic.h>

#define LITTLE_NS 500000

static int run(struct agent_call *call, struct thread_registers *registers)
{
    switch ((enum agent_operation)call->operation) {
    case AGENT_PREPARE:
        return session_prepare(call);
    case AGENT_BEGIN:
        return session_begin(call, registers);
    case AGENT_FOLLOW:
        return session_follow(call);
    case AGENT_LEAVE:
        return session_leave(call, registers);
    case AGENT_START:
        return session_start(call, registers);
    case AGENT_LOOK:
        return session_look(call, registers);
    case AGENT_END:
        return session_end();
    }
    return -EINVAL;
}

static bool is_counter_forbidden(const struct agent_call *call)
{
    int mode = PR_TSC_ENABLE;

    return call->may_change_counter != 0 && raw_syscall(__NR_prctl, PR_GET_TSC, (long)&mode, 0, 0, 0, 0) == 0 &&
           mode == PR_TSC_SIGSEGV;
}

/* Stubs can do without, at a price; translated code cannot. */
static int run_without_counter(struct agent_call *call, struct thread_registers *registers)
{
    bool is_hooked = call->options.events & EVENTS_HOOKED;
    bool begins = call->operation == AGENT_PREPARE || call->operation == AGENT_BEGIN || call->operation == AGENT_START;
    int result = -EPERM;

    if (!begins || is_hooked) {
        raw_syscall(__NR_prctl, PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0, 0);
        result = run(call, registers);
        raw_syscall(__NR_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0, 0);
    }
    if (result == 0 && call->operation == AGENT_BEGIN)
        hook_thread_forbid_counter(true);
    return result;
}

/* A program that has not begun. */
static bool is_new(const struct agent_call *call)
{
    return call->options.is_whole && (call->operation == AGENT_PREPARE || call->operation == AGENT_BEGIN);
}

/*
 * A thread may be one that was taken out of a sleep: another one with a time limit would replace what the kernel knows
 * of that.
 */
static void wait_a_little(const struct agent_call *call)
{
    static const struct __kernel_timespec little = {.tv_nsec = LITTLE_NS};

    if (is_new(call))
        (void)raw_syscall(__NR_nanosleep, (long)&little, 0, 0, 0, 0, 0);
    else
        (void)raw_syscall(__NR_sched_yield, 0, 0, 0, 0, 0, 0);
}

/* A stop for every system call would cost more than all that is done here: so the tracer looks at the phase. */
static void await_tracer(struct agent_call *call)
{
    struct futex_deadline deadline = futex_deadline_after(AGENT_CALL_WAIT_MS);
    uint32_t done = AGENT_CALL_DONE;

    /* Release: pairs with the tracer's reading, by which all else that was written here is known. */
    atomic_store_explicit(&call->phase, AGENT_CALL_DONE, memory_order_release);
    while (!futex_deadline_passed(&deadline))
        wait_a_little(call);
    atomic_compare_exchange_strong(&call->phase, &done, AGENT_CALL_LEFT);
}

/* The tracer takes the ring while the thread is stopped. If there is none any more, nobody will ever read the ring. */
static void await_start(struct agent_call *call, struct thread_registers *registers)
{
    long pid = raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0), tid = raw_syscall(__NR_gettid, 0, 0, 0, 0, 0, 0);

    /* Release: pairs with the tracer's reading, by which all else that was written here is known. */
    atomic_store_explicit(&call->phase, AGENT_CALL_DONE, memory_order_release);
    (void)raw_syscall(__NR_tgkill, pid, tid, AGENT_START_SIGNAL, 0, 0, 0);
    session_started(registers, atomic_load_explicit(&call->phase, memory_order_acquire) == AGENT_CALL_TAKEN);
}

/* The calling thread goes on with the registers, changed or not. */
__attribute__((visibility("default"))) void agent_main(void *context, struct thread_registers *registers);

void agent_main(void *context, struct thread_registers *registers)
{
    struct agent_call *call = context;

    call->is_counter_forbidden = is_counter_forbidden(call);
    call->result = call->is_counter_forbidden ? run_without_counter(call, registers) : run(call, registers);
    call->followed_count = session_followed_count();
    call->hooked_count = session_hooked_count();
    if (call->operation == AGENT_START)
        await_start(call, registers);
    else
        await_tracer(call);
}
