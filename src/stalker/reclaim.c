/* SPDX-License-Identifier: MIT */
/*
 * Quiescence by epochs. Retiring a slab's last block begins a new epoch, and so does giving up tables that the map of
 * blocks has outgrown; each thread notes the epoch whenever it is in the engine with nothing of the cache to go back
 * to. A slab goes when every followed thread has noted an epoch as new as its own, and has handed over its events,
 * which name blocks; a table when none can be looking for a block in it. Only whole slabs go: blocks stay where they
 * are.
 */
#include "stalker/reclaim.h"

#include "base/code_memory.h"
#include "base/counters.h"
#include "process/thread_list.h"
#include "stalker/dispatch.h"
#include "stalker/event_buffer.h"
#include "stalker/follow.h"
#include "stalker/invalidate.h"
#include "stalker/thread.h"

/* Threads looked at by reclaim_threads. */
#define THREADS_AT_A_TIME 8

uint64_t reclaim_epoch(const struct stalker_thread *thread)
{
    /* Acquire: pairs with the release in begin_epoch; what was retired before is found nowhere any more. */
    return atomic_load_explicit(&thread->engine->epoch, memory_order_acquire);
}

void reclaim_pass(struct stalker_thread *thread, uint64_t epoch)
{
    if (atomic_load_explicit(&thread->epoch, memory_order_relaxed) == epoch)
        return;
    /* One that leaves has handed over all, and its cache may be gone already. */
    if (thread->events != NULL && !thread->is_leaving)
        stalker_drain_events(thread, EVENT_PLACE_BETWEEN_BLOCKS);
    /* Release: pairs with the acquire in has_passed; whoever sees it knows that we are out of what was retired. */
    atomic_store_explicit(&thread->epoch, epoch, memory_order_release);
}

static bool has_passed(const struct stalker_engine *engine, uint64_t epoch) REQUIRES(engine->lock)
{
    LIST_FOR_EACH (node, &engine->threads) {
        const struct stalker_thread *thread = LIST_ELEMENT(node, struct stalker_thread, node);

        if (atomic_load_explicit(&thread->epoch, memory_order_acquire) < epoch)
            return false;
    }
    return true;
}

static uint64_t begin_epoch(struct stalker_engine *engine)
{
    /* Release: what was unlinked or replaced before is so for who notes this epoch. */
    return atomic_fetch_add_explicit(&engine->epoch, 1, memory_order_acq_rel) + 1;
}

/* All blocks of a slab are retired; from the next epoch on nobody comes there. */
static void retire_slab(struct code_cache *cache, struct cache_slab *slab) REQUIRES(cache->lock)
{
    for (uint32_t i = 0; i < cache->block_count; i++) {
        struct block *block = code_cache_block(cache, i);

        if (code_cache_slab_of(cache, block) == slab)
            block_retire(cache, block);
    }
    slab->is_retired = true;
    slab->epoch = begin_epoch(cache->engine);
    counter_add(COUNTER_slabs_retired, 1);
}

static size_t code_bytes(const struct code_cache *cache)
{
    size_t bytes = 0;

    for (const struct cache_slab *slab = cache->slabs; slab != NULL; slab = slab->next)
        if (!slab->is_retired)
            bytes += code_memory_committed(slab->hot) + code_memory_committed(slab->cold);
    return bytes;
}

/* New slabs are put in front, so the last one is the oldest. */
static struct cache_slab *oldest(const struct code_cache *cache)
{
    struct cache_slab *found = NULL;

    for (struct cache_slab *slab = cache->slabs; slab != NULL; slab = slab->next)
        if (!slab->is_retired)
            found = slab;
    return found;
}

/* Slabs in which only retired blocks are left. */
static void retire_empty(struct code_cache *cache) REQUIRES(cache->lock)
{
    for (struct cache_slab *slab = cache->slabs; slab != NULL; slab = slab->next) {
        bool is_empty = true;

        for (uint32_t i = 0; i < cache->block_count && is_empty; i++) {
            const struct block *block = code_cache_block(cache, i);

            is_empty = code_cache_slab_of(cache, block) != slab || block->is_retired;
        }
        if (is_empty && !slab->is_retired)
            retire_slab(cache, slab);
    }
}

/* Frees what nobody can be in. Returns how many retired slabs are left. */
static size_t free_slabs(struct code_cache *cache) REQUIRES(cache->lock) REQUIRES(cache->engine->lock)
{
    struct cache_slab **place = &cache->slabs;
    size_t left = 0;

    while (*place != NULL) {
        struct cache_slab *slab = *place;

        if (!slab->is_retired || !has_passed(cache->engine, slab->epoch)) {
            left += slab->is_retired;
            place = &slab->next;
            continue;
        }
        *place = slab->next;
        code_cache_free_slab(cache, slab);
        counter_add(COUNTER_slabs_freed, 1);
    }
    return left;
}

/* The map's tables: frees those that were given up, then gives up what it has outgrown since. */
static void free_tables(struct code_cache *cache) REQUIRES(cache->lock) REQUIRES(cache->engine->lock)
{
    if (cache->retired_tables != NULL && has_passed(cache->engine, cache->retired_tables_epoch)) {
        hash_map_retired_free(cache->retired_tables);
        cache->retired_tables = NULL;
    }
    if (cache->retired_tables == NULL && hash_map_has_retired(&cache->blocks)) {
        cache->retired_tables = hash_map_retired_take(&cache->blocks);
        cache->retired_tables_epoch = begin_epoch(cache->engine);
    }
}

static bool has_retired_tables(const struct code_cache *cache)
{
    return cache->retired_tables != NULL || hash_map_has_retired(&cache->blocks);
}

NO_THREAD_SAFETY_ANALYSIS void reclaim_limit(struct code_cache *cache)
{
    size_t limit = cache->engine->options.code_bytes_max;
    struct cache_slab *slab;

    if (limit == 0 && !has_retired_tables(cache))
        return;
    while (limit != 0 && code_bytes(cache) > limit && (slab = oldest(cache)) != NULL)
        retire_slab(cache, slab);
    /* The engine's lock comes before the cache's: if somebody has it, the next one frees. */
    if (!mutex_try_lock(&cache->engine->lock))
        return;
    free_slabs(cache);
    free_tables(cache);
    mutex_unlock(&cache->engine->lock);
}

static void look_at_parked(struct stalker_engine *engine, size_t count) REQUIRES(engine->lock)
{
    LIST_FOR_EACH_REMOVABLE (node, &engine->parked) {
        struct stalker_thread *thread = LIST_ELEMENT(node, struct stalker_thread, node);

        if (count-- == 0)
            return;
        list_remove(node);
        /* One that lives goes to the end, so that others come to their turn. */
        if (thread_exists(thread->tid))
            list_add_last(&engine->parked, node);
        else
            stalker_thread_destroy(thread);
    }
}

void reclaim_threads(struct stalker_engine *engine)
{
    look_at_parked(engine, THREADS_AT_A_TIME);
}

static size_t count_parked(const struct stalker_engine *engine) REQUIRES(engine->lock)
{
    size_t count = 0;

    LIST_FOR_EACH (node, &engine->parked)
        count++;
    return count;
}

/* Whether a thread is observed in a cache, or has left it but not the engine, where signals still ask for the cache. */
static bool is_in_use(const struct stalker_engine *engine, const struct code_cache *cache) REQUIRES(engine->lock)
{
    LIST_FOR_EACH (node, &engine->threads)
        if (LIST_ELEMENT(node, struct stalker_thread, node)->observed_cache == cache)
            return true;
    LIST_FOR_EACH (node, &engine->parked) {
        const struct stalker_thread *thread = LIST_ELEMENT(node, struct stalker_thread, node);

        if (thread->observed_cache == cache && atomic_load_explicit(&thread->is_inside, memory_order_acquire))
            return true;
    }
    return false;
}

/*
 * Those of transformers and rings that nobody is followed with: there may be any number, and most will not come again.
 * Without them there are only so many ways of following, each of which may be wanted again.
 */
static bool may_come_again(const struct code_cache *cache)
{
    return cache->configuration.transformer == NULL && cache->configuration.ring == NULL;
}

static void free_unused_caches(struct stalker_engine *engine) REQUIRES(engine->lock)
{
    struct code_cache **place = &engine->caches;

    while (*place != NULL) {
        struct code_cache *cache = *place;

        if (may_come_again(cache) || is_in_use(engine, cache)) {
            place = &cache->next;
            continue;
        }
        *place = cache->next;
        code_cache_destroy(cache);
        counter_add(COUNTER_caches_freed, 1);
    }
}

size_t reclaim_all(struct stalker_engine *engine)
{
    size_t left = 0;

    mutex_lock(&engine->lock);
    look_at_parked(engine, count_parked(engine));
    free_unused_caches(engine);
    for (struct code_cache *cache = engine->caches; cache != NULL; cache = cache->next) {
        mutex_lock(&cache->lock);
        retire_empty(cache);
        left += free_slabs(cache);
        free_tables(cache);
        mutex_unlock(&cache->lock);
    }
    mutex_unlock(&engine->lock);
    return left;
}
