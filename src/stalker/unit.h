/* SPDX-License-Identifier: MIT */
/* Translating: from an original address to published blocks. */
#ifndef GAIT_STALKER_UNIT_H
#define GAIT_STALKER_UNIT_H

#include "stalker/code_cache.h"

/*
 * Translates the block at `start`, and blocks that follow it, and publishes them. With `lands` the block is found by
 * indirect branches. -EFAULT: no code is there; -ENOMEM and what executable memory gives. Then nothing is changed.
 */
MUST_USE int unit_translate(struct code_cache *cache, struct app_pc start, bool lands, struct block **block_out)
    REQUIRES(cache->lock);

/* Lets indirect branches find a block that they could not find so far. Errors as above. */
MUST_USE int unit_add_landing(struct code_cache *cache, struct block *block) REQUIRES(cache->lock);

/*
 * Translates the block at an address for threads that are followed that way; if `to` is not NULL, also the one there,
 * to which branches at the end of the first one then go straight. -EFAULT: there is no code; -ENOENT: no branch of the
 * first leads to the second; as above.
 */
MUST_USE int unit_prefetch(struct stalker_engine *engine, const struct follow_configuration *configuration,
                           struct app_pc start, const struct app_pc *to);

#endif
