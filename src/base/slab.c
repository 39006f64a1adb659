/* SPDX-License-Identifier: MIT */
/*
 * A bump allocator. Ordinary pieces form a list in the order of their use; the cursor is in `current`. Allocations that
 * are larger than a piece stand in a list of their own and are unmapped by a reset. Invariant: cursor <= limit, both in
 * `current`, or both NULL before the first piece. No lock: the owner has it.
 */
#include "base/slab.h"

#include "base/alignment.h"
#include "base/assert.h"
#include "base/memory_map.h"

#define PIECE_BYTES_DEFAULT (64u * 1024)

struct slab_piece {
    struct slab_piece *next;
    size_t size_bytes;
};

void slab_init(struct slab *slab, size_t piece_bytes)
{
    *slab = (struct slab){.piece_bytes = memory_round_to_pages(piece_bytes != 0 ? piece_bytes : PIECE_BYTES_DEFAULT)};
}

static void unmap_all(struct slab *slab, struct slab_piece *piece)
{
    while (piece != NULL) {
        struct slab_piece *next = piece->next;

        slab->stats.mapped_bytes -= piece->size_bytes;
        slab->stats.piece_count--;
        memory_unmap(piece, piece->size_bytes);
        piece = next;
    }
}

void slab_deinit(struct slab *slab)
{
    ASSERT(slab_check(slab), "a slab was damaged");
    unmap_all(slab, slab->first);
    unmap_all(slab, slab->large);
    slab_init(slab, slab->piece_bytes);
}

static struct slab_piece *map_piece(struct slab *slab, size_t size_bytes)
{
    struct slab_piece *piece;
    void *memory;

    if (memory_map(size_bytes, &memory) != 0)
        return NULL;
    piece = memory;
    piece->size_bytes = memory_round_to_pages(size_bytes);
    slab->stats.mapped_bytes += piece->size_bytes;
    slab->stats.piece_count++;
    return piece;
}

static void enter_piece(struct slab *slab, struct slab_piece *piece)
{
    slab->current = piece;
    slab->cursor = (uint8_t *)(piece + 1);
    slab->limit = (uint8_t *)piece + piece->size_bytes;
}

/* Goes on to the next piece, a new one if there is none. */
static bool advance(struct slab *slab)
{
    struct slab_piece **link = slab->current != NULL ? &slab->current->next : &slab->first;

    if (*link == NULL)
        *link = map_piece(slab, slab->piece_bytes);
    if (*link == NULL)
        return false;
    enter_piece(slab, *link);
    return true;
}

/* The place in what is left of the current piece, NULL when it does not fit. */
static void *bump(struct slab *slab, size_t size_bytes, size_t alignment)
{
    size_t room = (size_t)(slab->limit - slab->cursor);
    size_t padding = -(uintptr_t)slab->cursor & (alignment - 1);
    uint8_t *place;

    if (padding > room || room - padding < size_bytes || slab->cursor == NULL)
        return NULL;
    place = slab->cursor + padding;
    slab->cursor = place + size_bytes;
    return place;
}

static void *allocate_large(struct slab *slab, size_t size_bytes, size_t alignment)
{
    size_t header_bytes = align_up(sizeof(struct slab_piece), alignment);
    struct slab_piece *piece;

    if (size_bytes > SIZE_MAX - header_bytes)
        return NULL;
    piece = map_piece(slab, size_bytes + header_bytes);
    if (piece == NULL)
        return NULL;
    piece->next = slab->large;
    slab->large = piece;
    return (uint8_t *)piece + header_bytes;
}

static bool fits_into_a_piece(const struct slab *slab, size_t size_bytes, size_t alignment)
{
    size_t overhead = sizeof(struct slab_piece) + alignment;

    return size_bytes <= slab->piece_bytes && overhead <= slab->piece_bytes - size_bytes;
}

void *slab_allocate(struct slab *slab, size_t size_bytes, size_t alignment)
{
    void *place;

    ASSERT(alignment != 0 && (alignment & (alignment - 1)) == 0 && alignment <= memory_page_size(),
           "an alignment that a slab cannot give");
    place = bump(slab, size_bytes, alignment);
    if (place == NULL && !fits_into_a_piece(slab, size_bytes, alignment))
        place = allocate_large(slab, size_bytes, alignment);
    else if (place == NULL && advance(slab))
        place = bump(slab, size_bytes, alignment);
    if (place == NULL)
        return NULL;
    slab->stats.used_bytes += size_bytes;
    slab->stats.allocation_count++;
    return place;
}

void *slab_allocate_zeroed(struct slab *slab, size_t size_bytes, size_t alignment)
{
    void *place = slab_allocate(slab, size_bytes, alignment);

    if (place != NULL)
        __builtin_memset(place, 0, size_bytes);
    return place;
}

static size_t add_up(const struct slab_piece *piece, size_t *piece_count)
{
    size_t bytes = 0;

    for (; piece != NULL; piece = piece->next) {
        bytes += piece->size_bytes;
        ++*piece_count;
    }
    return bytes;
}

bool slab_check(const struct slab *slab)
{
    const uint8_t *current = (const uint8_t *)slab->current;
    size_t piece_count = 0;
    size_t mapped = add_up(slab->first, &piece_count) + add_up(slab->large, &piece_count);

    if (mapped != slab->stats.mapped_bytes || piece_count != slab->stats.piece_count)
        return false;
    if (slab->stats.used_bytes > mapped)
        return false;
    if (current == NULL)
        return slab->cursor == NULL && slab->limit == NULL && slab->first == NULL;
    return slab->limit == current + slab->current->size_bytes && slab->cursor <= slab->limit &&
           slab->cursor >= (const uint8_t *)(slab->current + 1);
}
