/* SPDX-License-Identifier: MIT */
/*
 * Executable memory within reach of the code that it belongs to: pieces of machine code in chunks, each of which a
 * signed 32-bit displacement reaches from the addresses it was asked for. Pieces are written one behind the other and
 * become executable together, by near_memory_commit. What is given back cannot be used again piece by piece, since
 * threads may be in it: a chunk goes when all of its pieces were given back and its user says that nobody is in it.
 *
 * The memory owns its chunks. One thread at a time: the caller has the lock; committed code may be run by any thread.
 * No libc; usable inside the target.
 */
#ifndef GAIT_PROCESS_NEAR_MEMORY_H
#define GAIT_PROCESS_NEAR_MEMORY_H

#include "base/attributes.h"
#include "base/code_view.h"
#include "base/code_writer.h"
#include "base/list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_memory;

struct near_chunk {
    struct list_node node; /* of the memory */
    struct code_memory *memory;
    uint64_t start;
    uint64_t end;
    size_t live_count;         /* pieces that were not given back */
    size_t piece_count;        /* with those that were */
    struct list_node pieces;   /* all of them */
    struct code_writer writer; /* while is_open */
    size_t piece_offset;       /* where in it the piece begins that is being written */
    bool is_open;
    bool is_busy; /* somebody was seen in it */
};

struct near_memory {
    struct list_node chunks; /* the newest one first */
    enum code_view_mode mode;
    size_t chunk_bytes;
};

/* Part of whatever has the code; its memory is the user's, and must stay until near_memory_reclaim hands it back. */
struct near_piece {
    struct list_node node;
    struct near_chunk *chunk;
    uint64_t start;
    uint32_t size_bytes;
    bool is_released;
};

void near_memory_init(struct near_memory *memory, enum code_view_mode mode, size_t chunk_bytes);

/* Gives all memory back. Nobody may be in it any more. */
void near_memory_deinit(struct near_memory *memory);

/*
 * Where at least `capacity` bytes can be written, in reach of the address; at a multiple of 16. -ENOMEM: no memory, or
 * no room in reach; -EACCES, -EPERM: none that may be executed; -EINVAL: more than a chunk.
 */
MUST_USE int near_memory_begin(struct near_memory *memory, uint64_t address, size_t capacity,
                               struct near_chunk **chunk_out);

/* The piece is what was written to the chunk's writer since. -ENOSPC: it did not fit, and is cancelled. */
MUST_USE int near_memory_end(struct near_chunk *chunk, struct near_piece *piece);

/* What was written since is forgotten. */
void near_memory_cancel(struct near_chunk *chunk);

/* Makes what was written executable. What it returns is what mprotect gives, in mode FREEZE only. */
MUST_USE int near_memory_commit(struct near_memory *memory);

/* Nothing will go to the piece any more; threads may still be in it. */
void near_memory_release(struct near_piece *piece);

/*
 * Giving chunks back in which nothing is live: begun, then told of all addresses where somebody is, or will come back
 * to, while everybody stands still; then done, at any time, since nobody gets into such a chunk again. Only
 * addresses low <= a < high are worth telling. False: there is nothing to reclaim.
 */
bool near_memory_begin_reclaim(struct near_memory *memory, uint64_t *low_out, uint64_t *high_out);
void near_memory_note_busy(struct near_memory *memory, uint64_t address);
void near_memory_note_all_busy(struct near_memory *memory);

/* Calls ask for each chunk that nobody was seen in; true: it is in use even so. */
void near_memory_ask_busy(struct near_memory *memory, bool (*ask)(uint64_t start, uint64_t end));

/* Hands each piece of a chunk that goes to `forget`: its memory is the user's again. How many chunks. */
size_t near_memory_end_reclaim(struct near_memory *memory, void (*forget)(void *context, struct near_piece *piece),
                               void *context);

/* Whether an address is in one of the chunks. */
bool near_memory_contains(const struct near_memory *memory, uint64_t address);

#endif
