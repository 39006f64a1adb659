/* SPDX-License-Identifier: MIT */
/*
 * A block: the translation of instructions up to the first one that can change the flow of control, and the exits
 * through which control leaves it. Blocks belong to a code_cache and are changed under its lock; `entry` and what the
 * dispatcher reads of an exit never change while the block is published.
 */
#ifndef GAIT_STALKER_BLOCK_H
#define GAIT_STALKER_BLOCK_H

#include "base/address.h"

#include <stdbool.h>
#include <stdint.h>

struct cache_slab;

#define BLOCK_EXIT_COUNT 2

/* What the engine does for a thread that comes through an exit. */
enum block_exit_kind {
    BLOCK_EXIT_NONE,
    BLOCK_EXIT_JUMP,          /* on to `target`; can be linked */
    BLOCK_EXIT_ADJACENT,      /* the same, and nothing but a placeholder stands between it and the next block */
    BLOCK_EXIT_SYSTEM_CALL,   /* the system call at `target` needs the engine */
    BLOCK_EXIT_NATIVE_RETURN, /* a native call is done */
    BLOCK_EXIT_CHANGE_CACHE,  /* `target` is excluded, or called by excluded code */
    BLOCK_EXIT_LEAVE,         /* what stands at `target` can only be run natively */
    BLOCK_EXIT_NO_CODE,       /* nothing that is known stands at `target`: the CPU is to say what is wrong with it */
};

struct block_exit {
    struct app_pc target;
    struct block *linked;             /* where the branch goes in the cache; NULL: to its stub */
    struct block_exit *next_incoming; /* another exit that is linked to the same block */
    struct cache_pc place;            /* of the branch's displacement, or of the placeholder */
    struct cache_pc stub;
    uint8_t kind; /* enum block_exit_kind */
    uint8_t number;
};

enum block_flag {
    BLOCK_LANDS = 1u << 0,   /* `landing` stands right before the entry */
    BLOCK_RETIRED = 1u << 1, /* no longer in the map; threads may still be in it */
};

struct block {
    struct cache_pc entry; /* first: the gates read it */
    struct app_pc start;
    uint32_t index;
    uint32_t size_bytes; /* of the original */
    uint32_t code_bytes; /* of the translation, its landing included */
    uint32_t flags;      /* of enum block_flag */
    struct cache_pc landing;
    struct cache_slab *slab;
    struct block_exit *incoming;
    const uint8_t *trail;
    uint32_t trail_bytes;
    uint32_t insn_count;
    const uint8_t *insn_lengths; /* NULL where nobody asks */
    const uint8_t *snapshot;     /* of the original; NULL: it is not compared in the engine */
    uint32_t unchanged_count;    /* how often it was found the same */
    uint32_t last_insn_bytes;
    struct block_exit exits[BLOCK_EXIT_COUNT];
};

static inline struct app_pc block_end(const struct block *block)
{
    return app_pc_of(block->start.value + block->size_bytes);
}

/* Where its hot code begins. */
static inline struct cache_pc block_code(const struct block *block)
{
    return block->flags & BLOCK_LANDS ? block->landing : block->entry;
}

/* Where its last instruction stands. */
static inline struct app_pc block_last_insn(const struct block *block)
{
    return app_pc_of(block->start.value + block->size_bytes - block->last_insn_bytes);
}

/* The block that an exit is part of. */
static inline struct block *block_of_exit(struct block_exit *exit)
{
    return (struct block *)(void *)((char *)(exit - exit->number) - __builtin_offsetof(struct block, exits));
}

#endif
