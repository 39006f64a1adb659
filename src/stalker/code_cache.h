/* SPDX-License-Identifier: MIT */
/*
 * The translated code of one follow configuration: blocks by their original address, the executable memory that they
 * are in, and the table through which indirect branches find them. One cache serves all threads that are followed
 * alike. Lookups take no lock; everything else is under `lock`.
 */
#ifndef GAIT_STALKER_CODE_CACHE_H
#define GAIT_STALKER_CODE_CACHE_H

#include "base/address.h"
#include "base/attributes.h"
#include "base/code_view.h"
#include "base/hash_map.h"
#include "base/mutex.h"
#include "base/slab.h"
#include "stalker/block.h"
#include "stalker/block_places.h"
#include "stalker/code_place.h"
#include "stalker/indirect_table.h"

#include <stdbool.h>
#include <stddef.h>

struct code_memory;
struct event_block;
struct code_writer;
struct ring_region;
struct stalker_engine;

#define BLOCK_CHUNK_SHIFT 12
#define BLOCK_CHUNK_COUNT 1024u

#define CACHE_SLAB_COUNT  2048u

struct cache_range {
    _Atomic uint64_t start;
    _Atomic uint64_t size_bytes;
};

/* 0: it is empty. */
static inline uint64_t cache_range_start(const struct cache_range *range)
{
    return atomic_load_explicit(&range->start, memory_order_relaxed);
}

/*
 * Executable memory in reach of one neighbourhood of original code: what runs often, and what does not. And memory for
 * what is noted of that code.
 */
struct cache_slab {
    struct cache_slab *next; /* stays as it is when the slab is taken out of the list */
    struct cache_slab *next_spare;
    struct code_memory *hot;
    struct code_memory *cold;
    struct cache_range hot_range; /* empty once the memory is gone */
    struct cache_range cold_range;
    struct code_place_list hot_places;
    struct code_place_list cold_places;
    uint8_t *notes; /* trails and struct block_notes */
    uint32_t notes_used;
    uint32_t notes_bytes;
    size_t notes_present;   /* so much of it has pages */
    uint64_t neighbourhood; /* an address that it was put near to */
    uint64_t *counters;     /* in reach of code; NULL until somebody wants one; the first is no counter, but a link */
    uint32_t counter_count;
    uint32_t stubs_owed; /* exits that have none yet; cold memory has room for them */
    uint16_t number;     /* in the cache's table */
    bool is_retired;     /* all its blocks are; it goes when every thread has noted its epoch */
    uint64_t epoch;
};

/* Events that translated code writes itself. */
#define EVENTS_IN_CODE (GAIT_EVENT_CALL | GAIT_EVENT_RET | GAIT_EVENT_EXEC | GAIT_EVENT_BLOCK)

/* How blocks are instrumented: what threads must agree on to share a cache. */
struct follow_configuration {
    uint32_t events;          /* of enum gait_event_kind */
    bool times;               /* each record has one */
    struct ring_region *ring; /* where records go; NULL: to the threads' own buffers */
    const struct gait_transformer *transformer;
    bool is_quiet;  /* of excluded code: nothing is put into translations */
    bool is_paused; /* and no code leads to another cache */
};

struct code_cache {
    struct hash_map blocks;                /* original address to struct block */
    struct block_places places;            /* of all blocks that were ever in the map */
    struct hash_map_table *retired_tables; /* of the map; they go when every thread has noted the epoch */
    uint64_t retired_tables_epoch;
    struct indirect_table indirect;
    struct stalker_engine *engine;
    struct follow_configuration configuration;
    uint32_t ring_space; /* in which the ring has our blocks */
    struct mutex lock;
    struct cache_slab *slabs;       /* new ones come first; read without the lock, too */
    struct cache_slab *spare_slabs; /* structs without memory: somebody may still be on the way through the list */
    struct slab instruments;        /* callouts, and counters that are out of reach of code */
    struct block *chunks[BLOCK_CHUNK_COUNT];
    size_t chunk_present; /* so much of the last one has pages */
    uint32_t block_count;
    uint32_t slab_count; /* also of spare ones */
    struct cache_slab *slab_table[CACHE_SLAB_COUNT];
    uint64_t *kept_counters; /* of slabs that are gone: a list by their links; who reads them does not know of slabs */
    struct code_cache *next; /* in the engine's list, under its lock */
};

struct code_cache_options {
    struct stalker_engine *engine;
    struct follow_configuration configuration;
    struct cache_pc indirect_missing;
};

/* -ENOMEM: no memory, or none where the table of indirect branches may lie. The caller owns the cache. */
MUST_USE int code_cache_create(const struct code_cache_options *options, struct code_cache **cache_out);

/* No thread may be in the cache. NULL is fine. */
void code_cache_destroy(struct code_cache *cache);

/* The block for an original address, or NULL. Any thread, no lock. */
static inline struct block *code_cache_find(const struct code_cache *cache, struct app_pc start)
{
    uint64_t value;

    return hash_map_lookup(&cache->blocks, start.value, &value) ? (struct block *)(uintptr_t)value : NULL;
}

/* Says that code_cache_find will be asked for the address soon. */
static inline void code_cache_prefetch(const struct code_cache *cache, struct app_pc start)
{
    hash_map_prefetch(&cache->blocks, start.value);
}

/* The block with that index, which must exist. Any thread, no lock. */
static inline struct block *code_cache_block(const struct code_cache *cache, uint32_t index)
{
    return &cache->chunks[index >> BLOCK_CHUNK_SHIFT][index & ((1u << BLOCK_CHUNK_SHIFT) - 1)];
}

/* An exit by the number that its stub stores. */
static inline struct block_exit *code_cache_exit(const struct code_cache *cache, uint32_t number)
{
    return &code_cache_block(cache, number / BLOCK_EXIT_COUNT)->exits[number % BLOCK_EXIT_COUNT];
}

/* The block that an exit is linked to, or NULL. */
static inline struct block *code_cache_linked(const struct code_cache *cache, const struct block_exit *exit)
{
    return exit->linked == 0 ? NULL : code_cache_block(cache, exit->linked - 1);
}

/* The slab that a block is in; NULL: it is gone. */
static inline struct cache_slab *code_cache_slab_of(const struct code_cache *cache, const struct block *block)
{
    return block->slab == 0 ? NULL : cache->slab_table[block->slab - 1];
}

/* What is noted of a block; NULL: nothing, or its slab is gone. */
static inline struct block_notes *code_cache_notes(const struct code_cache *cache, const struct block *block)
{
    if (block->notes == 0 || block->slab == 0)
        return NULL;
    return (void *)(code_cache_slab_of(cache, block)->notes + block->notes);
}

/*
 * The piece of translated code that an address is in. False: not in this cache, or in a piece that leads to the engine.
 * Any thread, signal-safe, no lock.
 */
bool code_cache_place_at(const struct code_cache *cache, struct cache_pc pc, struct code_place *place_out);

/*
 * Takes memory that lives as long as the slab, for what is noted of its code, and tells where in the slab's notes it
 * is. NULL: there is no more.
 */
MUST_USE void *cache_slab_note(struct cache_slab *slab, size_t size_bytes, size_t alignment, uint32_t *place_out);

/* Gives a block notes with so much room. NULL: no memory. */
MUST_USE struct block_notes *code_cache_add_notes(const struct code_cache *cache, struct block *block,
                                                  uint16_t snapshot_bytes, uint16_t length_count) REQUIRES(cache->lock);

/* A zeroed block with an index, not yet in the map. NULL: no memory. */
MUST_USE struct block *code_cache_new_block(struct code_cache *cache) REQUIRES(cache->lock);

/* Gives back the newest block, which was not published. */
void code_cache_drop_block(struct code_cache *cache, struct block *block) REQUIRES(cache->lock);

/* What readers of its records need to know of a block. */
void code_cache_describe(const struct code_cache *cache, const struct block *block, struct event_block *described_out);

/* Makes all blocks known to readers of a ring that is new, if its records name blocks. Nobody else may be here. */
void code_cache_tell_blocks(struct code_cache *cache);

/* Makes a block known to everybody, and to readers of a ring if it has records that name blocks. -ENOMEM. */
MUST_USE int code_cache_publish(struct code_cache *cache, struct block *block) REQUIRES(cache->lock);

/*
 * A slab near the original address with at least that much room in both memories. -ENOMEM; -EACCES and others: no
 * executable memory.
 */
MUST_USE int code_cache_slab(struct code_cache *cache, struct app_pc near, size_t hot_bytes, size_t cold_bytes,
                             struct cache_slab **slab_out) REQUIRES(cache->lock);

/*
 * Opens a reservation in a slab's cold memory that leaves the room which is owed to exits. -ENOSPC: there is not that
 * much.
 */
MUST_USE int code_cache_reserve_cold(struct cache_slab *slab, size_t size_bytes, struct code_writer *writer_out);

/* Gives a slab back whose blocks are all retired and that is in no list. Their indices are not used again. */
void code_cache_free_slab(struct code_cache *cache, struct cache_slab *slab) REQUIRES(cache->lock);

/* All memory in use for the cache. */
size_t code_cache_memory(const struct code_cache *cache) REQUIRES(cache->lock);

/* A counter that code in the slab reaches. NULL: no memory. */
uint64_t *code_cache_new_counter(struct code_cache *cache, struct cache_slab *slab) REQUIRES(cache->lock);

/* Lets indirect branches to the block's start find its landing. */
void code_cache_announce(struct code_cache *cache, const struct block *block) REQUIRES(cache->lock);

#endif
