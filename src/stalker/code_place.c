/* SPDX-License-Identifier: MIT */
/*
 * Chunks that never move, and a count. What readers look for was published before anybody could run it, so that what
 * happens at the end of the list meanwhile does not concern them.
 */
#include "stalker/code_place.h"

#include "base/memory_map.h"
#include "base/partition_point.h"
#include "stalker/block.h"
#include "stalker/code_cache.h"

#include <asm/errno.h>

#define CHUNK_PLACES (1u << CODE_PLACE_CHUNK_SHIFT)

void code_place_list_deinit(struct code_place_list *list)
{
    for (unsigned i = 0; i < CODE_PLACE_CHUNK_COUNT && list->chunks[i] != NULL; i++) {
        memory_unmap(list->chunks[i], CHUNK_PLACES * sizeof(struct code_place_record));
        list->chunks[i] = NULL;
    }
    atomic_store_explicit(&list->count, 0, memory_order_relaxed);
}

static struct code_place_record *record_at(const struct code_place_list *list, uint32_t index)
{
    return &list->chunks[index >> CODE_PLACE_CHUNK_SHIFT][index & (CHUNK_PLACES - 1)];
}

int code_place_add(struct code_place_list *list, const struct code_place_record *record)
{
    uint32_t count = atomic_load_explicit(&list->count, memory_order_relaxed);
    uint32_t chunk;

    while (count > 0 && record_at(list, count - 1)->start >= record->start)
        count--;
    atomic_store_explicit(&list->count, count, memory_order_relaxed);
    chunk = count >> CODE_PLACE_CHUNK_SHIFT;
    if (chunk == CODE_PLACE_CHUNK_COUNT)
        return -ENOMEM;
    if (list->chunks[chunk] == NULL) {
        void *storage;

        if (memory_map(CHUNK_PLACES * sizeof(struct code_place_record), &storage) != 0)
            return -ENOMEM;
        list->chunks[chunk] = storage;
    }
    *record_at(list, count) = *record;
    /* Release: pairs with the acquire in code_place_find. */
    atomic_store_explicit(&list->count, count + 1, memory_order_release);
    return 0;
}

const struct code_place_record *code_place_find(const struct code_place_list *list, uint32_t offset)
{
    uint32_t count = atomic_load_explicit(&list->count, memory_order_acquire);
    uint32_t low = (uint32_t)PARTITION_POINT(count, i, record_at(list, (uint32_t)i)->start <= offset);
    const struct code_place_record *record;

    if (low == 0)
        return NULL;
    record = record_at(list, low - 1);
    return offset - record->start < record->size_bytes ? record : NULL;
}

const struct code_place_record *code_place_last(const struct code_place_list *list)
{
    uint32_t count = atomic_load_explicit(&list->count, memory_order_relaxed);

    return count == 0 ? NULL : record_at(list, count - 1);
}

/* ---- pieces of cold code ----------------------------------------------------------------------------------------- */

/* A few points each, kept like the trail of a block. Under the cache's lock, like all that writes code. */

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
