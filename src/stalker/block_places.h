/* SPDX-License-Identifier: MIT */
/*
 * Where in a program's memory blocks were made of what stood there. Programs map and unmap memory all the time, nearly
 * always without code in it; this tells at once that no block is concerned, or which may be. What was noted is never
 * taken back: a block that is gone still counts. No lock; under that of the code cache.
 */
#ifndef GAIT_STALKER_BLOCK_PLACES_H
#define GAIT_STALKER_BLOCK_PLACES_H

#include "base/attributes.h"
#include "base/hash_map.h"

#include <stdbool.h>
#include <stdint.h>

/* Blocks by their indices: from the first on, and before the end. */
struct block_run {
    uint32_t first;
    uint32_t end;
};

struct block_places {
    struct hash_map runs; /* by a stretch of memory, all blocks that begin there, and others between them */
    uint64_t stretch;     /* the one that the newest blocks begin in; its run is not in the map yet */
    struct block_run newest;
    uint64_t longest_bytes; /* of what a block was made of */
    bool is_incomplete;     /* there was no memory once: nothing is known any more */
};

/* -ENOMEM. */
MUST_USE int block_places_init(struct block_places *places);
void block_places_deinit(struct block_places *places);

/* Notes the block with that index, made of what stands from start to end. */
void block_places_add(struct block_places *places, uint64_t start, uint64_t end, uint32_t index);

/* All blocks that may be made of something from start to end are in it; of block_count that there are. */
struct block_run block_places_between(struct block_places *places, uint64_t start, uint64_t end, uint32_t block_count);

#endif
