/* SPDX-License-Identifier: MIT */
/* Looking at translations: where that of a block is, and which of the program's instructions a place in it stands for.
 */
#ifndef GAIT_STALKER_BLOCK_LOOKUP_H
#define GAIT_STALKER_BLOCK_LOOKUP_H

#include "base/address.h"
#include "base/attributes.h"

#include <stdint.h>

struct follow_configuration;
struct stalker_engine;

/* A block and its translation, as far as it runs often. */
struct block_extent {
    struct app_pc start;
    uint64_t size_bytes;
    struct cache_pc code;
    uint64_t code_bytes;
};

/* Any thread, not in the engine. -ENOENT: no block that begins there is translated for threads followed that way. */
MUST_USE int block_lookup(struct stalker_engine *engine, const struct follow_configuration *configuration,
                          struct app_pc start, struct block_extent *extent_out);

/*
 * Where the program is, or goes on, when a thread is at a place in translated code. Any thread, not in the engine.
 * -ENOENT: nothing is known of that place, or only together with the thread's registers.
 */
MUST_USE int block_lookup_original(struct stalker_engine *engine, const struct follow_configuration *configuration,
                                   struct cache_pc place, struct app_pc *original_out);

#endif
