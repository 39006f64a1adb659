/* SPDX-License-Identifier: MIT */
/*
 * Memory that is only taken, and given back all at once: a cursor that moves through mapped pieces. The slab owns its
 * pieces. One thread at a time: the caller has the lock. No libc; usable inside the target, and in signal handlers that
 * cannot interrupt another user of the same slab.
 */
#ifndef GAIT_BASE_SLAB_H
#define GAIT_BASE_SLAB_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slab_piece;

struct slab_stats {
    size_t mapped_bytes;
    size_t used_bytes; /* as asked for, without what alignment costs */
    size_t allocation_count;
    size_t piece_count;
};

struct slab {
    struct slab_piece *first;
    struct slab_piece *current; /* pieces behind it are empty, left over from before a reset */
    struct slab_piece *large;   /* pieces of one allocation each */
    uint8_t *cursor;
    uint8_t *limit;
    size_t piece_bytes;
    struct slab_stats stats;
};

/* Begins an empty slab; takes no memory yet. Pieces are piece_bytes, rounded up to pages; 0 stands for 64 KiB. */
void slab_init(struct slab *slab, size_t piece_bytes);

/* Gives all memory back; everything taken from the slab is gone. The slab is then as after slab_init. */
void slab_deinit(struct slab *slab);

/*
 * Takes size_bytes at a multiple of alignment, a power of two up to a page. Contents are undefined. What does not fit
 * into a piece gets one of its own. NULL: the system has no memory. A system call once a piece, else none.
 */
MUST_USE void *slab_allocate(struct slab *slab, size_t size_bytes, size_t alignment);

/* The same with all bytes zero. */
MUST_USE void *slab_allocate_zeroed(struct slab *slab, size_t size_bytes, size_t alignment);

static inline struct slab_stats slab_stats(const struct slab *slab)
{
    return slab->stats;
}

/* Whether cursor, pieces and figures agree. Walks the pieces. */
bool slab_check(const struct slab *slab);

#endif
