/* SPDX-License-Identifier: MIT */
/*
 * Objects of one size, taken and given back in any order, over chunks of mapped memory. The pool owns its chunks and
 * keeps them until it is deinitialized. One thread at a time: the caller has the lock. No libc; usable inside the
 * target, and in signal handlers that cannot interrupt another user of the same pool.
 */
#ifndef GAIT_BASE_POOL_H
#define GAIT_BASE_POOL_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

struct pool_chunk;
struct pool_free_object;

struct pool {
    struct pool_chunk *chunks; /* the newest one first; only that one may have objects that were never taken */
    struct pool_free_object *free;
    size_t stride_bytes;
    size_t chunk_bytes; /* a power of two; chunks are aligned to it */
    size_t first_offset;
    size_t objects_per_chunk;
    size_t fresh_count; /* objects of the newest chunk that were never taken */
    size_t used_count;
    size_t chunk_count;
};

/*
 * Begins an empty pool; takes no memory yet. Objects begin at multiples of 16, or of 64 if object_bytes is one.
 * -EINVAL: object_bytes is 0 or more than 16 MiB.
 */
MUST_USE int pool_init(struct pool *pool, size_t object_bytes);

/* Gives all memory back, also that of objects still taken. */
void pool_deinit(struct pool *pool);

/* Takes an object with undefined contents. NULL: the system has no memory. A system call once a chunk, else none. */
MUST_USE void *pool_allocate(struct pool *pool);

/*
 * Gives an object back; NULL is fine. What is not an object of this pool, or was given back before, is our own bug:
 * asserted in debug builds and ignored (in release builds a pointer from elsewhere is not noticed).
 */
void pool_free(struct pool *pool, void *object);

/* Whether the pointer is to an object of this pool that is taken. Walks the chunks: for checks, not for hot paths. */
bool pool_owns(const struct pool *pool, const void *object);

/* Whether counts, marks and the free list agree. Walks everything. */
bool pool_check(const struct pool *pool);

static inline size_t pool_used_count(const struct pool *pool)
{
    return pool->used_count;
}

static inline size_t pool_mapped_bytes(const struct pool *pool)
{
    return pool->chunk_count * pool->chunk_bytes;
}

#endif
