/* SPDX-License-Identifier: MIT */
/*
 * All locks are taken, in their order, so that nobody else has one when memory is copied; the child, where nobody else
 * is, makes them new. Executable memory that is written through a second mapping stays shared with the child, and so
 * does a narrow table for which there was no memory: there it gets caches of its own.
 */
#include "stalker/fork.h"

#include "base/code_memory.h"
#include "base/counters.h"
#include "base/raw_syscall.h"
#include "ring/ring_region.h"
#include "stalker/errand.h"
#include "stalker/event_buffer.h"
#include "stalker/follow.h"
#include "stalker/signal_actions.h"
#include "stalker/signal_virtualize.h"
#include "stalker/stalker_engine.h"
#include "stalker/system_call.h"
#include "stalker/thread.h"
#include "stalker/thread_registry.h"

NO_THREAD_SAFETY_ANALYSIS static void take_locks(struct stalker_engine *engine)
{
    mutex_lock(&engine->lock);
    for (struct code_cache *cache = engine->caches; cache != NULL; cache = cache->next)
        mutex_lock(&cache->lock);
    mutex_lock(&engine->translation_lock);
    mutex_lock(&engine->source.lock);
    mutex_lock(&engine->exclusions.lock);
    mutex_lock(&engine->quiet.lock);
    mutex_lock(&engine->pieces.lock);
    thread_registry_lock();
    signal_actions_lock();
    if (engine->thread_watcher != NULL)
        engine->thread_watcher->hold();
}

NO_THREAD_SAFETY_ANALYSIS static void give_locks(struct stalker_engine *engine)
{
    if (engine->thread_watcher != NULL)
        engine->thread_watcher->let_go();
    signal_actions_unlock();
    thread_registry_unlock();
    mutex_unlock(&engine->pieces.lock);
    mutex_unlock(&engine->quiet.lock);
    mutex_unlock(&engine->exclusions.lock);
    mutex_unlock(&engine->source.lock);
    mutex_unlock(&engine->translation_lock);
    for (struct code_cache *cache = engine->caches; cache != NULL; cache = cache->next)
        mutex_unlock(&cache->lock);
    mutex_unlock(&engine->lock);
}

static bool is_shared(const struct code_cache *cache)
{
    return indirect_table_is_narrow(&cache->indirect) ||
           (cache->slabs != NULL && code_memory_mode(cache->slabs->hot) == CODE_VIEW_DUAL);
}

/* Narrow tables would be shared with the child. */
NO_THREAD_SAFETY_ANALYSIS static void widen_tables(struct stalker_engine *engine)
{
    for (struct code_cache *cache = engine->caches; cache != NULL; cache = cache->next)
        (void)!indirect_table_widen(&cache->indirect);
}

/* A cache of the same configuration without a block. Without memory the thread cannot be followed in the child. */
static bool replace_cache(struct stalker_thread *thread, struct code_cache **place)
{
    struct stalker_engine *engine = thread->engine;
    struct code_cache *old = *place, *new;
    struct code_cache_options options = {
        .engine = engine,
        .configuration = old->configuration,
        .indirect_missing = cache_pc_of(old->indirect.missing),
    };

    if (code_cache_create(&options, &new) != 0)
        return false;
    new->next = old->next;
    *place = new;
    if (engine->quiet_cache == old)
        engine->quiet_cache = new;
    if (engine->paused_cache == old)
        engine->paused_cache = new;
    if (thread->observed_cache == old)
        thread->observed_cache = new;
    if (thread->cache == old)
        stalker_thread_use_cache(thread, new);
    code_cache_destroy(old);
    return true;
}

/* A ring is read as that of the process which made it. */
static bool leave_ring(const struct code_cache *cache)
{
    return cache->configuration.ring == NULL || ring_region_detach(cache->configuration.ring);
}

/*
 * Whether the thread is followed in the child. With a watcher its ring is then a new one, to which nothing is known
 * yet; else nobody sees what is written from now on.
 */
static bool begin_ring(struct stalker_thread *thread)
{
    const struct process_watcher *watcher = thread->engine->processes;
    bool is_left = true;

    if (watcher != NULL && watcher->child_began(watcher->context)) {
        for (struct code_cache *cache = thread->engine->caches; cache != NULL; cache = cache->next)
            code_cache_tell_blocks(cache);
        if (thread->events != NULL && thread->events->ring != NULL)
            event_buffer_begin_in_ring(thread->events, thread->observed_cache, (uint32_t)thread->tid);
        return true;
    }
    for (const struct code_cache *cache = thread->engine->caches; cache != NULL; cache = cache->next)
        is_left &= leave_ring(cache);
    /* Its lane may be in a ring that is not there any more. */
    if (thread->events != NULL && thread->events->ring != NULL)
        event_buffer_begin_in_ring(thread->events, thread->observed_cache, (uint32_t)thread->tid);
    atomic_store_explicit(&thread->engine->is_abandoned, watcher != NULL, memory_order_relaxed);
    return is_left && watcher == NULL;
}

static void forget_others(struct stalker_thread *thread)
{
    LIST_FOR_EACH_REMOVABLE (node, &thread->engine->threads) {
        struct stalker_thread *other = LIST_ELEMENT(node, struct stalker_thread, node);

        if (other == thread)
            continue;
        list_remove(node);
        if (other->watch != NULL)
            other->engine->thread_watcher->forgotten(other);
        other->watch = NULL;
        if (stalker_thread_has_actions(other))
            signal_actions_release();
        if (other->events != NULL)
            event_buffer_forget_ring(other->events);
        stalker_thread_destroy(other);
    }
}

static void begin_child(struct stalker_thread *thread)
{
    struct stalker_engine *engine = thread->engine;

    give_locks(engine);
    thread->tid = stalker_current_tid();
    if (thread_registry_add(thread) != 0)
        counter_add(COUNTER_threads_unknown, 1);
    thread->is_announced = false;
    thread->announcement = NULL;
    thread->dispatch = (struct call_dispatch){0};
    forget_others(thread);
    if (thread->watch != NULL)
        engine->thread_watcher->forked(thread);
    errand_forget_all(thread);
    call_pieces_forget_shared(&engine->pieces);
    for (struct code_cache **place = &engine->caches; *place != NULL; place = &(*place)->next)
        if (is_shared(*place) && !replace_cache(thread, place))
            atomic_fetch_or_explicit(&thread->requests, STALKER_REQUEST_UNFOLLOW, memory_order_relaxed);
    if (!begin_ring(thread))
        atomic_fetch_or_explicit(&thread->requests, STALKER_REQUEST_UNFOLLOW, memory_order_relaxed);
    if (thread->events != NULL) {
        event_buffer_set_tid(thread->events, (uint32_t)thread->tid);
        event_decoder_forget_blocks(&thread->events->decoder);
        thread->event_position = thread->events->start;
        thread->event_limit = thread->events->end;
    }
}

long stalker_fork(struct stalker_thread *thread, const struct system_call *call)
{
    const struct process_watcher *watcher = thread->engine->processes;
    long result;

    signal_thread_hold(thread);
    if (watcher != NULL)
        watcher->fork_begins(watcher->context);
    take_locks(thread->engine);
    widen_tables(thread->engine);
    thread->was_trapped = false;
    signal_thread_let_traps(thread, true);
    result = raw_syscall_for_program(call->number, call->arguments[0], call->arguments[1], call->arguments[2],
                                     call->arguments[3], call->arguments[4], call->arguments[5]);
    signal_thread_let_traps(thread, false);
    if (result == 0 && !thread->was_trapped)
        begin_child(thread);
    else
        give_locks(thread->engine);
    if ((result < 0 || thread->was_trapped) && watcher != NULL)
        watcher->fork_failed(watcher->context);
    return result;
}
