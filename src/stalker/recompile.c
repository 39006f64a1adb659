/* SPDX-License-Identifier: MIT */
/*
 * The old translation is retired and the new one published under the cache's lock: whoever comes to the engine finds
 * the new one, and branches to the old one lead to the engine until they are linked again. The engine's lock is kept,
 * so that the cache stays.
 */
#include "stalker/recompile.h"

#include "stalker/invalidate.h"
#include "stalker/stalker_engine.h"
#include "stalker/unit.h"

#include <asm/errno.h>

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
