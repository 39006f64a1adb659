/* SPDX-License-Identifier: MIT */
/*
 * Code for system calls that make a child with our memory that is not followed. The child begins behind the system call
 * instruction, in our code, at a time of its own: so that code is in memory that stays as long as the engine.
 */
#ifndef GAIT_STALKER_CALL_PIECE_H
#define GAIT_STALKER_CALL_PIECE_H

#include "base/address.h"
#include "base/attributes.h"
#include "base/hash_map.h"
#include "base/mutex.h"

struct code_memory;
struct stalker_engine;

struct call_pieces {
    struct mutex lock;          /* taken last */
    struct code_memory *memory; /* NULL until one is needed */
    struct hash_map by_pc;      /* what follows the system call, to the piece */
};

MUST_USE int call_pieces_init(struct call_pieces *pieces);
void call_pieces_deinit(struct call_pieces *pieces);

/* In a child of a fork: forgets pieces in memory that it shares with its parent. Nobody else may be there. */
void call_pieces_forget_shared(struct call_pieces *pieces);

/*
 * Where a thread makes its system call, with all registers the program's, so that it comes back to the engine with the
 * result and a child goes on natively at `next`, with the segment base that the program has. -ENOMEM, -ENOSPC, and what
 * executable memory gives.
 */
MUST_USE int call_piece_obtain(struct stalker_engine *engine, struct app_pc next, uint64_t base,
                               struct cache_pc *piece_out);

#endif
