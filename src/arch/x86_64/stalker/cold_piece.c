/* SPDX-License-Identifier: MIT */
/* A few points each, kept like the trail of a block. Under the cache's lock, like all that writes code. */
#include "arch/x86_64/stalker/cold_piece.h"

#include "arch/x86_64/stalker/translate.h"

#include <asm/errno.h>

/* Of the longest state. */
#define POINT_BYTES_MAX 32

void x86_cold_piece_begin(struct cold_piece *piece, const struct block *block, const struct code_writer *writer)
{
    piece->block = block;
    piece->start = code_writer_pc(writer);
    piece->point_count = 0;
}

void x86_cold_piece_note(struct cold_piece *piece, const struct code_writer *writer, struct app_pc app_pc,
                         struct trail_state state)
{
    if (piece->point_count == COLD_POINTS_MAX)
        return;
    piece->points[piece->point_count++] = (struct trail_point){
        .cache_offset = (uint32_t)(code_writer_pc(writer).value - piece->start.value),
        .app_offset = (int64_t)(app_pc.value - piece->block->start.value),
        .state = state,
    };
}

int x86_cold_piece_end(struct translation *translation, const struct cold_piece *piece, struct cache_slab *slab,
                       const struct code_writer *writer)
{
    uint8_t bytes[COLD_POINTS_MAX * POINT_BYTES_MAX];
    struct code_place place = {
        .start = piece->start,
        .block = piece->block,
        .trail_bytes = (uint32_t)trail_encode(piece->points, piece->point_count, bytes, sizeof(bytes)),
        .size_bytes = (uint32_t)(code_writer_pc(writer).value - piece->start.value),
    };
    uint8_t *kept = slab_allocate(&translation->cache->trails, place.trail_bytes, 1);

    if (kept == NULL)
        return -ENOMEM;
    __builtin_memcpy(kept, bytes, place.trail_bytes);
    place.trail = kept;
    return code_place_add(&slab->cold_places, &place);
}
