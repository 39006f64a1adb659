/* SPDX-License-Identifier: MIT */
/*
 * Pieces of translated code in the order of their addresses, so that whoever finds a thread in one learns where the
 * program is. Grows at its end only, under the lock of the cache that it is part of; readers take no lock, and may be
 * signal handlers that interrupt the writer.
 */
#ifndef GAIT_STALKER_CODE_PLACE_H
#define GAIT_STALKER_CODE_PLACE_H

#include "base/address.h"
#include "base/attributes.h"
#include "base/code_writer.h"
#include "stalker/trail.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct block;
struct cache_slab;

#define CODE_PLACE_CHUNK_SHIFT 12
#define CODE_PLACE_CHUNK_COUNT 32u

/* A piece, and the CPU's account of it: for each of its instructions, how the program's state follows. */
struct code_place {
    struct cache_pc start;
    const struct block *block;
    const uint8_t *trail;
    uint32_t trail_bytes;
    uint32_t size_bytes;
};

/* The same as it is kept: by offsets in the slab that the piece is in. */
struct code_place_record {
    uint32_t start; /* in the memory that the list is for */
    uint32_t block; /* its index */
    uint32_t trail; /* in the slab's notes */
    uint16_t trail_bytes;
    uint16_t size_bytes;
};

struct code_place_list {
    _Atomic uint32_t count;
    struct code_place_record *chunks[CODE_PLACE_CHUNK_COUNT];
};

/* Gives the memory back. Zeroed lists are empty. */
void code_place_list_deinit(struct code_place_list *list);

/*
 * Adds a piece behind all that are there. Those at or behind its start, which were written and then given up, are
 * forgotten. Before anybody can run it. -ENOMEM.
 */
MUST_USE int code_place_add(struct code_place_list *list, const struct code_place_record *record);

/* The piece that an offset is in, or NULL. Any thread, signal-safe, no lock, no system call. */
const struct code_place_record *code_place_find(const struct code_place_list *list, uint32_t offset);

/* The piece that was added last, or NULL. */
const struct code_place_record *code_place_last(const struct code_place_list *list);

/* Memory that the pieces take. */
static inline size_t code_place_list_bytes(const struct code_place_list *list)
{
    return atomic_load_explicit(&list->count, memory_order_relaxed) * sizeof(struct code_place_record);
}

/* ---- pieces of cold code ----------------------------------------------------------------------------------------- */

/* Pieces of cold code from which hot code is reached without the engine: threads must be found there as well. */

#define COLD_POINTS_MAX 8

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
