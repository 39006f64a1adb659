/* SPDX-License-Identifier: MIT */
/* A few points each, kept like the trail of a block. Under the cache's lock, like all that writes code. */
#include "stalker/cold_piece.h"

#include "stalker/block.h"
#include "stalker/code_cache.h"

#include <asm/errno.h>

void cold_piece_begin(struct cold_piece *piece, const struct block *block, const struct code_writer *writer)
{
    piece->block = block;
    piece->start = code_writer_pc(writer);
    piece->point_count = 0;
}

void cold_piece_note(struct cold_piece *piece, const struct code_writer *writer, struct app_pc app_pc,
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

/* Most pieces are of one kind and have the same trail, so that one will do for all of them. */
static bool keep_trail(struct cache_slab *slab, const uint8_t *bytes, struct code_place_record *record)
{
    const struct code_place_record *last = code_place_last(&slab->cold_places);
    uint8_t *kept;

    if (last != NULL && last->trail_bytes == record->trail_bytes &&
        __builtin_memcmp(slab->notes + last->trail, bytes, record->trail_bytes) == 0) {
        record->trail = last->trail;
        return true;
    }
    kept = cache_slab_note(slab, record->trail_bytes, 1, &record->trail);
    if (kept != NULL)
        __builtin_memcpy(kept, bytes, record->trail_bytes);
    return kept != NULL;
}

int cold_piece_end(const struct cold_piece *piece, struct cache_slab *slab, const struct code_writer *writer)
{
    uint64_t memory = cache_range_start(&slab->cold_range);
    uint8_t bytes[COLD_POINTS_MAX * TRAIL_POINT_BYTES_MAX];
    struct code_place_record record = {
        .start = (uint32_t)(piece->start.value - memory),
        .block = piece->block->index,
        .trail_bytes = (uint16_t)trail_encode(piece->points, piece->point_count, bytes, sizeof(bytes)),
        .size_bytes = (uint16_t)(code_writer_pc(writer).value - piece->start.value),
    };

    return keep_trail(slab, bytes, &record) ? code_place_add(&slab->cold_places, &record) : -ENOMEM;
}
