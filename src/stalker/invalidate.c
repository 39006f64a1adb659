/* SPDX-License-Identifier: MIT */
/*
 * A retired block is out of the map, out of the table of indirect branches, and no exit leads to it; its own exits
 * still work, for threads that are in it. So nobody has to be stopped.
 */
#include "stalker/invalidate.h"

#include "base/counters.h"
#include "stalker/block_link.h"
#include "stalker/follow.h"
#include "stalker/stalker_engine.h"
#include "stalker/thread.h"
#include "stalker/unit.h"

#include <asm/errno.h>

void block_retire(struct code_cache *cache, struct block *block)
{
    if (block->is_retired)
        return;
    block->is_retired = true;
    hash_map_remove(&cache->blocks, block->start.value);
    if (block_has_landing(block))
        indirect_table_clear(&cache->indirect, block->start, block_landing(block));
    block_unlink_incoming(cache, block);
    counter_add(COUNTER_blocks_retired, 1);
}

bool block_may_link(const struct code_cache *cache, const struct block *block)
{
    const struct block_notes *notes = code_cache_notes(cache, block);

    return notes == NULL || notes->snapshot_bytes == 0 ||
           notes->unchanged_count >= (uint32_t)cache->engine->options.trust;
}

bool block_is_trusted(const struct code_cache *cache, struct block *block)
{
    struct block_notes *notes = code_cache_notes(cache, block);

    if (block_may_link(cache, block))
        return true;
    if (__builtin_memcmp(notes->bytes, (const void *)(uintptr_t)block->start.value, block->size_bytes) != 0)
        return false;
    notes->unchanged_count++;
    return true;
}

static bool overlaps(const struct block *block, uint64_t start, uint64_t end)
{
    return block->start.value < end && block_source_end(block).value > start;
}

void code_cache_invalidate(struct code_cache *cache, uint64_t start, uint64_t end)
{
    struct block_run run;

    mutex_lock(&cache->lock);
    run = block_places_between(&cache->places, start, end, cache->block_count);
    for (uint32_t i = run.first; i < run.end; i++) {
        struct block *block = code_cache_block(cache, i);

        if (overlaps(block, start, end))
            block_retire(cache, block);
    }
    mutex_unlock(&cache->lock);
}

void stalker_invalidate(struct stalker_engine *engine, uint64_t start, uint64_t end)
{
    /* Whoever changed the code may have changed its mapping for that, in a thread that is not followed. */
    stalker_mapping_changed(engine, start, end, true);
}

void stalker_mapping_changed(struct stalker_engine *engine, uint64_t start, uint64_t end, bool may_execute)
{
    code_source_forget(&engine->source, start, end, may_execute);
    stalker_contents_changed(engine, start, end);
}

void stalker_contents_changed(struct stalker_engine *engine, uint64_t start, uint64_t end)
{
    mutex_lock(&engine->lock);
    for (struct code_cache *cache = engine->caches; cache != NULL; cache = cache->next)
        code_cache_invalidate(cache, start, end);
    mutex_unlock(&engine->lock);
}

int stalker_invalidate_for(struct stalker_engine *engine, int tid, uint64_t start, uint64_t end)
{
    struct stalker_thread *thread;

    mutex_lock(&engine->lock);
    thread = stalker_thread_find(engine, tid);
    if (thread != NULL)
        code_cache_invalidate(thread->observed_cache, start, end);
    mutex_unlock(&engine->lock);
    return thread == NULL ? -ESRCH : 0;
}

/* ---- translating anew -------------------------------------------------------------------------------------------- */

/*
 * The old translation is retired and the new one published under the cache's lock: whoever comes to the engine finds
 * the new one, and branches to the old one lead to the engine until they are linked again. The engine's lock is kept,
 * so that the cache stays.
 */

static int replace(struct code_cache *cache, struct app_pc start) REQUIRES(cache->lock)
{
    struct block *block = code_cache_find(cache, start);
    bool lands;

    if (block == NULL)
        return -ENOENT;
    if (code_source_bytes(&cache->engine->source, start, NULL) == 0)
        return -EFAULT;
    lands = block_has_landing(block);
    block_retire(cache, block);
    return unit_translate(cache, start, lands, &block);
}

int stalker_recompile(struct stalker_engine *engine, const struct follow_configuration *configuration,
                      struct app_pc start)
{
    struct code_cache *cache;
    int result = -ENOENT;

    mutex_lock(&engine->lock);
    cache = stalker_engine_find_cache(engine, configuration);
    if (cache != NULL) {
        mutex_lock(&cache->lock);
        result = replace(cache, start);
        mutex_unlock(&cache->lock);
    }
    mutex_unlock(&engine->lock);
    return result;
}
