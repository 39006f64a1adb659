/* SPDX-License-Identifier: MIT */
/* Adds up what caches and threads know of themselves, each under its lock. */
#include "stalker/statistics.h"

#include "base/code_memory.h"
#include "gait/stalker.h"
#include "stalker/event_buffer.h"
#include "stalker/stalker_engine.h"
#include "stalker/thread.h"

static void add_cache(struct code_cache *cache, struct gait_stalker_statistics *statistics)
{
    mutex_lock(&cache->lock);
    statistics->blocks += hash_map_count(&cache->blocks);
    for (const struct cache_slab *slab = cache->slabs; slab != NULL; slab = slab->next)
        statistics->code_bytes += code_memory_committed(slab->hot) + code_memory_committed(slab->cold);
    statistics->memory_bytes += code_cache_memory(cache);
    mutex_unlock(&cache->lock);
}

static void add_threads(struct stalker_engine *engine, struct gait_stalker_statistics *statistics)
    REQUIRES(engine->lock)
{
    LIST_FOR_EACH (node, &engine->threads) {
        const struct stalker_thread *thread = LIST_ELEMENT(node, struct stalker_thread, node);

        statistics->threads++;
        if (thread->events != NULL)
            statistics->event_bytes_lost += thread->events->lost_bytes;
    }
    statistics->event_bytes_lost += engine->event_bytes_lost;
}

void stalker_statistics_read(struct stalker_engine *engine, struct gait_stalker_statistics *statistics_out)
{
    size_t size_bytes = statistics_out->size_bytes;

    *statistics_out = (struct gait_stalker_statistics){.size_bytes = size_bytes};
    mutex_lock(&engine->lock);
    add_threads(engine, statistics_out);
    for (struct code_cache *cache = engine->caches; cache != NULL; cache = cache->next)
        add_cache(cache, statistics_out);
    mutex_unlock(&engine->lock);
}
