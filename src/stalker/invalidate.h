/* SPDX-License-Identifier: MIT */
/* Forgetting translations. */
#ifndef GAIT_STALKER_INVALIDATE_H
#define GAIT_STALKER_INVALIDATE_H

#include "stalker/engine.h"

/*
 * Forgets a block: nobody gets into it any more, whoever is in it leaves it through its end. The memory stays until the
 * cache goes.
 */
void block_retire(struct code_cache *cache, struct block *block) REQUIRES(cache->lock);

/* Forgets all blocks of a cache that have an address of [start, end) in them. */
void code_cache_invalidate(struct code_cache *cache, uint64_t start, uint64_t end);

/* The same for all caches. */
void stalker_invalidate(struct stalker_engine *engine, uint64_t start, uint64_t end);

#endif
