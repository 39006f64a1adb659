/* SPDX-License-Identifier: MIT */
/*
 * A translation under way: a unit of one or more blocks that are adjacent in the original and in the cache, written
 * into the reservations of one slab and published together. Belongs to the thread that has the cache's lock.
 */
#ifndef GAIT_STALKER_TRANSLATION_H
#define GAIT_STALKER_TRANSLATION_H

#include "base/code_writer.h"
#include "stalker/block.h"
#include "stalker/code_cache.h"

/* Blocks in a unit, instructions in a block. */
#define UNIT_BLOCKS_MAX 8

/* What runs before the program does runs once: of longer units a fifth would never run. */
#define UNIT_BLOCKS_BEFORE 3
#define BLOCK_INSNS_MAX    256

struct block_draft;

struct translation {
    struct code_cache *cache;
    struct cache_slab *slab;
    struct code_writer hot;
    struct code_writer cold;
    struct block *block; /* the one under way */
    unsigned block_count;
    uint32_t notes_before;      /* how much the slab had noted */
    unsigned insn_limit;        /* a block ends after that many instructions at the latest */
    bool lands;                 /* the block under way is the target of an indirect branch */
    bool is_native;             /* the block under way is a function that is called natively */
    bool changes_cache;         /* the block under way is only the way to another cache */
    bool is_decoded;            /* neither of the two */
    struct app_pc quiet_border; /* where the block under way has to end: what follows is quiet and it is not, or the
                                   reverse, or watched */
    bool is_observed;           /* the user's code sees the registers at the start of the block under way */
    bool is_open;               /* nothing put so far ends the block under way */
    bool goes_on;               /* the block under way ended in a placeholder: the next one stands right behind it */
    uint64_t source_end;        /* how far the code that the unit is in can be read, as was found last */
    bool is_changeable;         /* and whether it may change without a system call */
    struct block_draft *draft;  /* of the block under way; the CPU's storage begins with it */
    /* So many as block_count says; what is behind is not set. */
    struct block *blocks[UNIT_BLOCKS_MAX];            /* all so far, the one under way too */
    struct code_place_record places[UNIT_BLOCKS_MAX]; /* of their hot code */
};

/* A translation of which nothing is known but for which cache it is. Its writers are those that are reserved for it. */
static inline void translation_init(struct translation *translation, struct code_cache *cache)
{
    translation->cache = cache;
    translation->slab = NULL;
    translation->block = NULL;
    translation->block_count = 0;
    translation->notes_before = 0;
    translation->insn_limit = 0;
    translation->lands = false;
    translation->is_native = translation->changes_cache = translation->is_decoded = false;
    translation->quiet_border = app_pc_of(0);
    translation->is_observed = translation->is_open = translation->goes_on = false;
    translation->source_end = 0;
    translation->is_changeable = false;
    translation->draft = NULL;
}

/*
 * How the block under way may go on to `next`: by a placeholder, if that is not translated yet and the unit has room
 * for it, else by a jump.
 */
enum block_exit_kind translation_continue(struct translation *translation, struct app_pc next)
    REQUIRES(translation->cache->lock);

/* What code_source_bytes says of the block under way; asked once for all blocks of a unit that are in one region. */
size_t translation_source_bytes(struct translation *translation, bool *is_changeable_out);

#endif
