/* SPDX-License-Identifier: MIT */
/*
 * A block: the translation of instructions up to the first one that can change the flow of control, and the exits
 * through which control leaves it. There are many of them, so that what is near a block is kept as a distance from it,
 * and other blocks and exits as numbers. Blocks belong to a code_cache and are changed under its lock; `entry` and what
 * the dispatcher reads of an exit never change while the block is published.
 */
#ifndef GAIT_STALKER_BLOCK_H
#define GAIT_STALKER_BLOCK_H

#include "base/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCK_EXIT_COUNT 2

/* Of any CPU's instructions, rounded up. */
#define BLOCK_INSN_BYTES_MAX 16

/* A jump in cold memory to any block takes no more. */
#define BLOCK_FAR_JUMP_BYTES 16

/* What the engine does for a thread that comes through an exit. */
enum block_exit_kind {
    BLOCK_EXIT_NONE,
    BLOCK_EXIT_JUMP,          /* on to its target; can be linked */
    BLOCK_EXIT_ADJACENT,      /* the same, and nothing but a placeholder stands between it and the next block */
    BLOCK_EXIT_SYSTEM_CALL,   /* the system call at its target needs the engine */
    BLOCK_EXIT_FOREIGN_CALL,  /* the same, by the convention of other programs */
    BLOCK_EXIT_NATIVE_RETURN, /* a native call is done */
    BLOCK_EXIT_CHANGE_CACHE,  /* its target is excluded, or called by excluded code */
    BLOCK_EXIT_LEAVE,         /* what stands at its target can only be run natively */
    BLOCK_EXIT_NO_CODE,       /* nothing that is known stands at its target: the CPU is to say what is wrong with it */
};

struct block_exit {
    int32_t target;         /* an original address, from the block's end */
    int32_t stub;           /* from the block's entry; 0: it has none yet */
    uint32_t linked;        /* 1 + the index of the block that the branch goes to; 0: it goes to its stub */
    uint32_t next_incoming; /* 1 + the number of another exit that is linked to the same block; 0: no more */
    uint16_t place;         /* of the branch's displacement, or of the placeholder, from where the hot code begins */
    uint8_t kind;           /* enum block_exit_kind */
    uint8_t which;          /* of the block's exits this is */
};

struct block {
    struct cache_pc entry; /* first: the gates read it */
    struct app_pc start;
    int32_t landing; /* from the entry; 0: it has none. The gates look whether it has */
    uint32_t index;
    uint32_t incoming;            /* 1 + the number of the first exit that is linked to this; 0: none is */
    uint32_t notes;               /* where its struct block_notes is in its slab's notes; 0: it has none */
    uint16_t slab;                /* 1 + the number of its slab; 0: that is gone */
    uint16_t size_bytes;          /* of the original */
    uint16_t insn_count : 12;     /* of the original */
    uint16_t last_insn_bytes : 4; /* of the original's last instruction */
    uint8_t landing_bytes;        /* of the landing that stands right before the entry, if there is one */
    bool is_retired : 1;          /* no longer in the map; threads may still be in it */
    bool is_quiet : 1;            /* it tells no events */
    struct block_exit exits[BLOCK_EXIT_COUNT];
};

_Static_assert(sizeof(struct block) == 80, "a block takes more memory than it has to");

/* What only some caches have to know of a block. */
struct block_notes {
    uint32_t unchanged_count; /* how often the snapshot was found the same */
    uint16_t snapshot_bytes;  /* of the original; 0: it is not compared in the engine */
    uint16_t length_count;    /* of its instructions; 0: nobody asks for them */
    uint8_t bytes[];          /* the snapshot, then the instructions' lengths, as in struct event_block */
};

static inline uint8_t *block_notes_lengths(struct block_notes *notes)
{
    return notes->bytes + notes->snapshot_bytes;
}

/* A block of which nothing is known but its number. Field by field: together they would be cleared by a slow loop. */
static inline void block_init(struct block *block, uint32_t index)
{
    block->entry = cache_pc_of(0);
    block->start = app_pc_of(0);
    block->landing = 0;
    block->index = index;
    block->incoming = block->notes = 0;
    block->slab = block->size_bytes = 0;
    block->insn_count = block->last_insn_bytes = 0;
    block->landing_bytes = 0;
    block->is_retired = block->is_quiet = false;
    for (unsigned i = 0; i < BLOCK_EXIT_COUNT; i++)
        block->exits[i] = (struct block_exit){.which = (uint8_t)i};
}

/* What it is made of: so many instructions and bytes, so many of these the last instruction's. */
static inline void block_set_original(struct block *block, unsigned insn_count, size_t size_bytes,
                                      unsigned last_insn_bytes)
{
    block->insn_count = insn_count & 0xfff;
    block->size_bytes = (uint16_t)size_bytes;
    block->last_insn_bytes = last_insn_bytes & 0xf;
}

static inline struct app_pc block_end(const struct block *block)
{
    return app_pc_of(block->start.value + block->size_bytes);
}

/*
 * Where what the block was made of ends. One that leaves, or that has no instruction of its own, is made of what stands
 * behind it too: there was no code, or only the beginning of an instruction.
 */
static inline struct app_pc block_source_end(const struct block *block)
{
    struct app_pc end = block_end(block);
    uint8_t kind = block->exits[0].kind;

    if (block->size_bytes == 0 || kind == BLOCK_EXIT_LEAVE || kind == BLOCK_EXIT_NO_CODE)
        end.value += BLOCK_INSN_BYTES_MAX;
    return end;
}

/* Where its hot code begins. */
static inline struct cache_pc block_code(const struct block *block)
{
    return cache_pc_of(block->entry.value - block->landing_bytes);
}

static inline bool block_has_landing(const struct block *block)
{
    return block->landing != 0;
}

/* Where indirect branches come in; the block must have a landing. */
static inline struct cache_pc block_landing(const struct block *block)
{
    return cache_pc_of(block->entry.value + (uint64_t)(int64_t)block->landing);
}

/* The landing is in reach of the entry. */
static inline void block_set_landing(struct block *block, struct cache_pc landing)
{
    block->landing = (int32_t)(landing.value - block->entry.value);
}

/* Where its last instruction stands. */
static inline struct app_pc block_last_insn(const struct block *block)
{
    return app_pc_of(block->start.value + block->size_bytes - block->last_insn_bytes);
}

/* The block that an exit is part of. */
static inline struct block *block_of_exit(const struct block_exit *exit)
{
    return (struct block *)(void *)((char *)(exit - exit->which) - __builtin_offsetof(struct block, exits));
}

/* Whether an exit of the block can have that target. */
static inline bool block_reaches(const struct block *block, struct app_pc target)
{
    int64_t distance = (int64_t)(target.value - block_end(block).value);

    return distance == (int32_t)distance;
}

static inline struct app_pc block_exit_target(const struct block_exit *exit)
{
    return app_pc_of(block_end(block_of_exit(exit)).value + (uint64_t)(int64_t)exit->target);
}

/* The block reaches the target, and where it ends is decided. */
static inline void block_exit_set_target(struct block_exit *exit, struct app_pc target)
{
    exit->target = (int32_t)(target.value - block_end(block_of_exit(exit)).value);
}

static inline struct cache_pc block_exit_place(const struct block_exit *exit)
{
    return cache_pc_of(block_code(block_of_exit(exit)).value + exit->place);
}

static inline void block_exit_set_place(struct block_exit *exit, struct cache_pc place)
{
    exit->place = (uint16_t)(place.value - block_code(block_of_exit(exit)).value);
}

static inline bool block_exit_has_stub(const struct block_exit *exit)
{
    return exit->stub != 0;
}

/* The exit must have a stub. */
static inline struct cache_pc block_exit_stub(const struct block_exit *exit)
{
    return cache_pc_of(block_of_exit(exit)->entry.value + (uint64_t)(int64_t)exit->stub);
}

/* The stub is in reach of the block's entry. */
static inline void block_exit_set_stub(struct block_exit *exit, struct cache_pc stub)
{
    exit->stub = (int32_t)(stub.value - block_of_exit(exit)->entry.value);
}

/* What a stub stores, and by which code_cache_exit finds the exit. */
static inline uint32_t block_exit_number(const struct block *block, unsigned which)
{
    return block->index * BLOCK_EXIT_COUNT + which;
}

#endif
