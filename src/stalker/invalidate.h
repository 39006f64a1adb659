/* SPDX-License-Identifier: MIT */
/* Forgetting translations. */
#ifndef GAIT_STALKER_INVALIDATE_H
#define GAIT_STALKER_INVALIDATE_H

#include "base/address.h"
#include "base/attributes.h"
#include "stalker/stalker_engine.h"

struct follow_configuration;
struct stalker_engine;

/*
 * Forgets a block: nobody gets into it any more, whoever is in it leaves it through its end. The memory stays until the
 * cache goes.
 */
void block_retire(struct code_cache *cache, struct block *block) REQUIRES(cache->lock);

/*
 * Whether the block still is what its original says, as far as the engine looks at that: until it was found unchanged
 * as often as the threshold wants.
 */
bool block_is_trusted(const struct code_cache *cache, struct block *block) REQUIRES(cache->lock);

/* Whether branches may go to the block without the engine's having a look. */
bool block_may_link(const struct code_cache *cache, const struct block *block);

/* Forgets all blocks of a cache that have an address of [start, end) in them. */
void code_cache_invalidate(struct code_cache *cache, uint64_t start, uint64_t end);

/* The same for all caches; what is known of the mappings there is forgotten too. Takes the engine's lock. */
void stalker_invalidate(struct stalker_engine *engine, uint64_t start, uint64_t end);

/* The same where the program changed its mappings. may_execute: to something that may be code. */
void stalker_mapping_changed(struct stalker_engine *engine, uint64_t start, uint64_t end, bool may_execute);

/* The same where the mappings are what they were. */
void stalker_contents_changed(struct stalker_engine *engine, uint64_t start, uint64_t end);

/* The same for the cache in which a thread is observed, with all others that are followed alike. -ESRCH: it is not. */
MUST_USE int stalker_invalidate_for(struct stalker_engine *engine, int tid, uint64_t start, uint64_t end);

/* ---- translating anew -------------------------------------------------------------------------------------------- */

/* Translating a block anew while threads run in its translation. */

/*
 * Translates the block that begins at an address again, for threads that are followed that way, and puts the new
 * translation in the place of the old one. -ENOENT: that block is not translated; -EFAULT: no code can be read there
 * any more; -ENOMEM and what executable memory gives: then the block is forgotten, and translated when somebody needs
 * it.
 */
MUST_USE int stalker_recompile(struct stalker_engine *engine, const struct follow_configuration *configuration,
                               struct app_pc start);

#endif
