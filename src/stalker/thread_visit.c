/* SPDX-License-Identifier: MIT */
/*
 * A thread that is followed is sent on an errand; another one lands on a stack of ours (process/thread_run.h). Which of
 * the two it is, is decided under the engine's lock, without which nobody begins or ends to be followed. One that was
 * just unfollowed may still be in the engine's hands: it is let go and met again.
 */
#include "stalker/thread_visit.h"

#include "arch/engine.h"
#include "arch/thread_landing.h"
#include "process/futex.h"
#include "process/thread_list.h"
#include "process/thread_run.h"
#include "stalker/dispatch.h"
#include "stalker/follow.h"
#include "stalker/signal_frame.h"
#include "stalker/thread.h"
#include "stalker/vectors.h"

#include <asm/errno.h>

#define TRIES_MAX     2000
#define TRY_AGAIN_MS  1
#define LOOK_AGAIN_MS 60000

/* In the engine, with all registers in the thread's context. */
static void run_followed(struct stalker_thread *thread, void *context)
{
    struct thread_visit *visit = context;
    struct gait_cpu_context cpu = thread->context;

    vectors_set_aside(thread);
    visit->function(&cpu, visit->data);
}

static void run_landed(void *context, const struct thread_registers *registers)
{
    struct thread_visit *visit = context;
    struct gait_cpu_context cpu;
    uint64_t thread_base;

    engine_host()->registers->get(registers, &cpu, &thread_base);
    visit->function(&cpu, visit->data);
}

/* Whether a thread that was followed has the program's registers again. */
static bool is_out(struct stalker_thread *thread, struct gait_cpu_context cpu)
{
    uint64_t sp = gait_cpu_stack_pointer(&cpu);

    return sp - (uintptr_t)thread->stack >= thread->stack_bytes && stalker_gate_recover(thread, &cpu) == GATE_UNKNOWN;
}

bool thread_visit_holds(struct stalker_engine *engine, int tid, const struct thread_registers *registers)
{
    struct gait_cpu_context cpu;
    uint64_t thread_base;

    if (thread_landing_holds(registers))
        return true;
    for (struct thread_visit *visit = engine->visits; visit != NULL; visit = visit->next)
        if (visit->tid == tid && !thread_run_is_done(visit->run))
            return true;
    engine_host()->registers->get(registers, &cpu, &thread_base);
    LIST_FOR_EACH (node, &engine->parked) {
        struct stalker_thread *thread = LIST_ELEMENT(node, struct stalker_thread, node);

        if (thread->tid == tid && !is_out(thread, cpu))
            return true;
    }
    return false;
}

/* Called under the engine's lock, by try_begin. */
NO_THREAD_SAFETY_ANALYSIS static int accept(void *context, const struct thread_registers *registers)
{
    const struct thread_visit *visit = context;

    return thread_visit_holds(visit->engine, visit->tid, registers) ? -EAGAIN : 0;
}

static int begin_landed(struct thread_visit *visit) REQUIRES(visit->engine->lock)
{
    int result = thread_run_begin_if(visit->tid, accept, run_landed, visit, &visit->run);

    if (result == 0) {
        visit->next = visit->engine->visits;
        visit->engine->visits = visit;
    }
    return result;
}

static void forget(struct thread_visit *visit)
{
    struct thread_visit **place;

    mutex_lock(&visit->engine->lock);
    for (place = &visit->engine->visits; *place != visit; place = &(*place)->next)
        ;
    *place = visit->next;
    mutex_unlock(&visit->engine->lock);
}

/* Meets the thread once. -EAGAIN: it has to be met again. */
static int try_begin(struct thread_visit *visit)
{
    bool is_followed;
    int result = 0;

    mutex_lock(&visit->engine->lock);
    is_followed = stalker_thread_find(visit->engine, visit->tid) != NULL;
    if (!is_followed)
        result = begin_landed(visit);
    mutex_unlock(&visit->engine->lock);
    if (!is_followed)
        return result;
    visit->errand = (struct stalker_errand){.run = run_followed, .context = visit};
    result = errand_send(visit->engine, visit->tid, &visit->errand);
    /* It was unfollowed meanwhile, if it is still there. */
    return result == -ESRCH && thread_exists(visit->tid) ? -EAGAIN : result;
}

int thread_visit_begin(struct thread_visit *visit, struct stalker_engine *engine, int tid)
{
    int result;

    visit->engine = engine;
    visit->tid = tid;
    visit->run = NULL;
    result = try_begin(visit);
    for (unsigned try = 0; result == -EAGAIN && try < TRIES_MAX; try++) {
        struct futex_deadline soon = futex_deadline_after(TRY_AGAIN_MS);
        _Atomic uint32_t nothing = 0;

        (void)futex_wait(&nothing, 0, &soon);
        result = try_begin(visit);
    }
    return result == -EAGAIN ? -ETIMEDOUT : result;
}

bool thread_visit_is_done(struct thread_visit *visit)
{
    if (visit->run != NULL)
        return thread_run_is_done(visit->run);
    return atomic_load_explicit(&visit->errand.state, memory_order_acquire) == ERRAND_DONE;
}

int thread_visit_end(struct thread_visit *visit)
{
    if (visit->run == NULL)
        return errand_wait(&visit->errand, visit->tid);
    while (thread_run_wait(visit->run, LOOK_AGAIN_MS) == -ETIMEDOUT)
        ;
    /* While it is in the list, others look at the run. */
    forget(visit);
    return thread_run_end(visit->run, LOOK_AGAIN_MS);
}

static void flush(struct stalker_thread *thread, void *context)
{
    (void)context;
    /* One that leaves has handed over all, and its cache may be gone already. */
    if (thread->events != NULL && !thread->is_leaving)
        stalker_drain_events(thread, EVENT_PLACE_BETWEEN_BLOCKS);
}

int thread_visit_flush(struct stalker_engine *engine, int tid)
{
    struct stalker_errand errand = {.run = flush};
    int result = errand_send(engine, tid, &errand);

    return result == 0 ? errand_wait(&errand, tid) : result;
}
