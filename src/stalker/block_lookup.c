/* SPDX-License-Identifier: MIT */
/* Reads maps and trails under the cache's lock. The trail is asked for no thread in particular. Stateless. */
#include "stalker/block_lookup.h"

#include "stalker/stalker_engine.h"
#include "stalker/thread.h"
#include "stalker/trail.h"

#include <asm/errno.h>

int block_lookup(struct stalker_engine *engine, const struct follow_configuration *configuration, struct app_pc start,
                 struct block_extent *extent_out)
{
    const struct block *block = NULL;
    struct code_place place;
    struct code_cache *cache;

    mutex_lock(&engine->lock);
    cache = stalker_engine_find_cache(engine, configuration);
    if (cache != NULL) {
        mutex_lock(&cache->lock);
        block = code_cache_find(cache, start);
        if (block != NULL && code_cache_place_at(cache, block_code(block), &place))
            *extent_out = (struct block_extent){start, block->size_bytes, place.start, place.size_bytes};
        else
            block = NULL;
        mutex_unlock(&cache->lock);
    }
    mutex_unlock(&engine->lock);
    return block == NULL ? -ENOENT : 0;
}

/* What the trail says with registers of no thread; it counts only if it is an address of the block. */
static int original_of(struct code_cache *cache, struct cache_pc pc, struct app_pc *original_out) REQUIRES(cache->lock)
{
    struct gait_cpu_context cpu = {.pc = pc.value};
    struct stalker_thread nobody = {.engine = cache->engine, .cache = cache};
    struct code_place place;

    if (!code_cache_place_at(cache, pc, &place) || trail_recover(&nobody, &place, &cpu) != 0)
        return -ENOENT;
    if (cpu.pc - place.block->start.value > place.block->size_bytes)
        return -ENOENT;
    *original_out = app_pc_of(cpu.pc);
    return 0;
}

int block_lookup_original(struct stalker_engine *engine, const struct follow_configuration *configuration,
                          struct cache_pc place, struct app_pc *original_out)
{
    struct code_cache *cache;
    int result = -ENOENT;

    mutex_lock(&engine->lock);
    cache = stalker_engine_find_cache(engine, configuration);
    if (cache != NULL) {
        mutex_lock(&cache->lock);
        result = original_of(cache, place, original_out);
        mutex_unlock(&cache->lock);
    }
    mutex_unlock(&engine->lock);
    return result;
}
