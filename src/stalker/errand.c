/* SPDX-License-Identifier: MIT */
/*
 * An errand goes from the sender's hands into the list of the thread, under the engine's lock, and out of it by the
 * thread, which takes all at once, or by the sender who gives up. Invariant: an errand is in a list exactly while it is
 * ERRAND_WAITING. Neighbours: follow_other.c brings the thread in, dispatch.c asks whether there is something to do.
 */
#include "stalker/errand.h"

#include "process/futex.h"
#include "process/thread_list.h"
#include "stalker/follow.h"
#include "stalker/follow_other.h"
#include "stalker/thread.h"

#include <asm/errno.h>

/* How often a thread that is between two places is met again, and how long a wait for it is in between. */
#define TRIES_MAX     2000
#define TRY_AGAIN_MS  1
#define LOOK_AGAIN_MS 50

static uint32_t state_of(struct stalker_errand *errand)
{
    /* Acquire: pairs with the release in set_state; what the errand did is visible to who finds it done. */
    return atomic_load_explicit(&errand->state, memory_order_acquire);
}

static void set_state(struct stalker_errand *errand, enum errand_state state)
{
    /* Release: pairs with the acquire in state_of. */
    atomic_store_explicit(&errand->state, state, memory_order_release);
    futex_wake(&errand->state, INT32_MAX);
}

static void add(struct stalker_thread *thread, struct stalker_errand *errand) REQUIRES(thread->engine->lock)
{
    struct stalker_errand **place = &thread->errands;

    while (*place != NULL)
        place = &(*place)->next;
    errand->next = NULL;
    errand->thread = thread;
    *place = errand;
    atomic_store_explicit(&errand->state, ERRAND_WAITING, memory_order_relaxed);
    atomic_fetch_or_explicit(&thread->requests, STALKER_REQUEST_ERRAND, memory_order_relaxed);
}

static void take_back(struct stalker_thread *thread, struct stalker_errand *errand) REQUIRES(thread->engine->lock)
{
    struct stalker_errand **place = &thread->errands;

    while (*place != errand)
        place = &(*place)->next;
    *place = errand->next;
    atomic_store_explicit(&errand->state, ERRAND_NEW, memory_order_relaxed);
}

/* Meets the thread once. 0: it has taken the errand, or is on its way; -EAGAIN: it has to be met again. */
static int meet(struct stalker_thread *thread, struct stalker_errand *errand, bool is_last)
    REQUIRES(thread->engine->lock)
{
    int result = stalker_bring_in(thread);

    if (result == 0 || (result == -EAGAIN && !is_last))
        return result;
    take_back(thread, errand);
    return result == -EAGAIN ? -ETIMEDOUT : result;
}

/* It is followed no more, or ended; on its way out of the engine it looks for errands a last time. */
static int meet_leaving(int tid, struct stalker_errand *errand, bool is_last) REQUIRES(errand->thread->engine->lock)
{
    if (!thread_exists(tid))
        return -ESRCH;
    if (!is_last)
        return -EAGAIN;
    take_back(errand->thread, errand);
    return -ETIMEDOUT;
}

static int try_send(struct stalker_engine *engine, int tid, struct stalker_errand *errand, bool is_last)
    REQUIRES(engine->lock)
{
    struct stalker_thread *thread = stalker_thread_find(engine, tid);

    if (state_of(errand) == ERRAND_NEW) {
        if (thread == NULL)
            return -ESRCH;
        add(thread, errand);
    }
    if (state_of(errand) != ERRAND_WAITING)
        return 0;
    return thread == errand->thread ? meet(thread, errand, is_last) : meet_leaving(tid, errand, is_last);
}

int errand_send(struct stalker_engine *engine, int tid, struct stalker_errand *errand)
{
    int result = -EAGAIN;

    for (unsigned try = 0; try <= TRIES_MAX; try++) {
        struct futex_deadline soon;

        mutex_lock(&engine->lock);
        result = try_send(engine, tid, errand, try == TRIES_MAX);
        mutex_unlock(&engine->lock);
        if (result != 0 && result != -EAGAIN)
            return result;
        soon = futex_deadline_after(TRY_AGAIN_MS);
        if (state_of(errand) == ERRAND_WAITING)
            (void)futex_wait(&errand->state, ERRAND_WAITING, &soon);
        if (state_of(errand) >= ERRAND_TAKEN)
            return 0;
    }
    return result;
}

int errand_wait(struct stalker_errand *errand, int tid)
{
    uint32_t state;

    while ((state = state_of(errand)) != ERRAND_DONE) {
        struct futex_deadline soon = futex_deadline_after(LOOK_AGAIN_MS);

        if (futex_wait(&errand->state, state, &soon) == -ETIMEDOUT && !thread_exists(tid) &&
            state_of(errand) != ERRAND_DONE)
            return -ESRCH;
    }
    return 0;
}

static struct stalker_errand *take_all(struct stalker_thread *thread)
{
    struct stalker_errand *taken;

    mutex_lock(&thread->engine->lock);
    taken = thread->errands;
    thread->errands = NULL;
    atomic_fetch_and_explicit(&thread->requests, ~(uint32_t)STALKER_REQUEST_ERRAND, memory_order_relaxed);
    for (struct stalker_errand *errand = taken; errand != NULL; errand = errand->next)
        set_state(errand, ERRAND_TAKEN);
    mutex_unlock(&thread->engine->lock);
    return taken;
}

void errand_run_all(struct stalker_thread *thread)
{
    struct stalker_errand *errand;

    if (!(atomic_load_explicit(&thread->requests, memory_order_relaxed) & STALKER_REQUEST_ERRAND))
        return;
    errand = take_all(thread);
    while (errand != NULL) {
        /* Once it is done, it is the sender's again. */
        struct stalker_errand *next = errand->next;

        errand->run(thread, errand->context);
        set_state(errand, ERRAND_DONE);
        errand = next;
    }
}

void errand_forget_all(struct stalker_thread *thread)
{
    thread->errands = NULL;
    atomic_fetch_and_explicit(&thread->requests, ~(uint32_t)STALKER_REQUEST_ERRAND, memory_order_relaxed);
}
