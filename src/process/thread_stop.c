/* SPDX-License-Identifier: MIT */
/*
 * Stopping one thread by way of a helper process: it stops the thread and shows its registers, then waits for what the
 * caller decides. The caller never waits longer than a bound, after which it ends the helper. Nor does the helper: were
 * the caller stopped by job control while the thread waits for it, the process could never come to a full stop.
 *
 * Neighbours: tracing_helper.c, the helper's life and the lock; thread_tracing.c, what it does to the thread.
 */
#include "process/thread_stop.h"

#include "process/thread_list.h"
#include "process/thread_tracing.h"
#include "process/tracing_helper.h"

#include <asm/errno.h>
#include <stdatomic.h>

#define STOP_TIMEOUT_MS   2000u
#define CHANGE_TIMEOUT_MS 2000u
#define END_TIMEOUT_MS    2000u

struct thread_exchange {
    struct tracing_helper helper;
    struct traced_thread thread;
};

/* ---- the helper ------------------------------------------------------------------------------------------------- */

/* Asks the caller for help once. */
UNSANITIZED static int seize(struct thread_exchange *exchange)
{
    struct tracing_helper *helper = &exchange->helper;
    int result = thread_tracing_seize(&exchange->thread, helper->process);

    if (result != -EPERM)
        return result;
    (void)tracing_helper_set_phase(helper, HELPER_STARTING, HELPER_REFUSED);
    if (tracing_helper_wait(helper, HELPER_REFUSED, CHANGE_TIMEOUT_MS) != CALLER_RETRY)
        return -EPERM;
    return thread_tracing_seize(&exchange->thread, helper->process);
}

/* Lets the caller decide. Until then nobody but the helper changes the phase. */
UNSANITIZED static int hand_over(struct thread_exchange *exchange)
{
    struct tracing_helper *helper = &exchange->helper;
    uint32_t phase = atomic_load_explicit(&helper->phase, memory_order_relaxed);

    (void)tracing_helper_set_phase(helper, phase, HELPER_STOPPED);
    phase = tracing_helper_wait(helper, HELPER_STOPPED, CHANGE_TIMEOUT_MS);
    if (phase == HELPER_STOPPED && tracing_helper_set_phase(helper, HELPER_STOPPED, HELPER_GAVE_UP))
        return -ETIMEDOUT;
    phase = atomic_load_explicit(&helper->phase, memory_order_acquire);
    return phase == CALLER_WRITE ? thread_tracing_write(&exchange->thread) : 0;
}

UNSANITIZED static void stop_and_ask(struct tracing_helper *helper)
{
    struct thread_exchange *exchange = (struct thread_exchange *)helper;
    int result = seize(exchange);

    if (result == 0)
        result = thread_tracing_interrupt(&exchange->thread);
    if (result == 0)
        result = thread_tracing_wait(&exchange->thread);
    if (result == 0)
        result = thread_tracing_read(&exchange->thread);
    if (result == 0)
        result = hand_over(exchange);
    helper->outcome = result;
    thread_tracing_release(&exchange->thread);
}

/* ---- the caller ------------------------------------------------------------------------------------------------- */

static int modify_by_helper(struct thread_exchange *exchange, thread_change change, void *context)
{
    struct tracing_helper *helper = &exchange->helper;
    uint32_t phase = tracing_helper_wait(helper, HELPER_STARTING, STOP_TIMEOUT_MS);
    int decision, outcome;

    if (phase == HELPER_REFUSED)
        phase = tracing_helper_allow(helper, STOP_TIMEOUT_MS);
    if (phase != HELPER_STOPPED)
        return tracing_helper_end(helper, 0);
    decision = change(context, &exchange->thread.registers);
    (void)tracing_helper_set_phase(helper, HELPER_STOPPED, decision == 0 ? CALLER_WRITE : CALLER_LEAVE);
    outcome = tracing_helper_end(helper, END_TIMEOUT_MS);
    if (decision != 0)
        return decision < 0 ? decision : 0;
    return outcome;
}

static int modify_locked(int tid, thread_change change, void *context)
{
    struct tracing_helper *helper;
    int result = tracing_helper_create(sizeof(struct thread_exchange), &helper);

    if (result != 0)
        return result;
    thread_tracing_init(&((struct thread_exchange *)helper)->thread, tid);
    result = tracing_helper_start(helper, stop_and_ask);
    if (result == 0)
        result = modify_by_helper((struct thread_exchange *)helper, change, context);
    if (result == -EPERM && !thread_exists(tid))
        return -ESRCH;
    return result;
}

int thread_modify(int tid, thread_change change, void *context)
{
    uint64_t signals;
    int result;

    if (tid == thread_current())
        return -EINVAL;
    if (!thread_exists(tid))
        return -ESRCH;
    result = tracing_helper_enter(&signals);
    if (result != 0)
        return result;
    result = modify_locked(tid, change, context);
    tracing_helper_leave(signals);
    return result;
}
