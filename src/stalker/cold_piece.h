/* SPDX-License-Identifier: MIT */
/* Pieces of cold code from which hot code is reached without the engine: threads must be found there as well. */
#ifndef GAIT_STALKER_COLD_PIECE_H
#define GAIT_STALKER_COLD_PIECE_H

#include "base/code_writer.h"
#include "stalker/trail.h"

#define COLD_POINTS_MAX 8

struct block;
struct cache_slab;

struct cold_piece {
    const struct block *block; /* that the points' addresses are relative to */
    struct cache_pc start;
    unsigned point_count;
    struct trail_point points[COLD_POINTS_MAX];
};

/* Begins a piece at the writer's position. */
void cold_piece_begin(struct cold_piece *piece, const struct block *block, const struct code_writer *writer);

/* Notes that from the writer's position on the thread is at an original address in that state. */
void cold_piece_note(struct cold_piece *piece, const struct code_writer *writer, struct app_pc app_pc,
                     struct trail_state state);

/* Makes the piece known, which ends at the writer's position in the cold memory of the block's slab. -ENOMEM. */
MUST_USE int cold_piece_end(const struct cold_piece *piece, struct cache_slab *slab, const struct code_writer *writer);

#endif
