/* SPDX-License-Identifier: MIT */
/*
 * An object pool. A chunk is: a header, a bit for each object that says whether it is taken, the objects. Chunks are
 * aligned to their size, so that an object's chunk is found by masking. Free objects are linked through their first
 * bytes; objects of the newest chunk that nobody had yet are counted instead, so that their pages stay untouched.
 * Invariant: an object's bit is set exactly while it is taken. No lock: the owner has it.
 */
#include "base/pool.h"

#include "base/alignment.h"
#include "base/assert.h"
#include "base/memory_map.h"

#include <asm/errno.h>
#include <stdint.h>

#define CHUNK_BYTES_MIN  (64u * 1024)
#define OBJECTS_MIN      16u
#define OBJECT_BYTES_MAX (16u * 1024 * 1024)
#define OBJECT_ALIGNMENT 16u
#define CACHE_LINE       64u
#define BITS_PER_WORD    64u

struct pool_free_object {
    struct pool_free_object *next;
};

struct pool_chunk {
    struct pool_chunk *next;
    uint64_t taken[]; /* a bit for each object */
};

static size_t offset_of_first(size_t object_count)
{
    size_t words = (object_count + BITS_PER_WORD - 1) / BITS_PER_WORD;

    return align_up(sizeof(struct pool_chunk) + words * sizeof(uint64_t), CACHE_LINE);
}

int pool_init(struct pool *pool, size_t object_bytes)
{
    size_t stride = align_up(object_bytes, OBJECT_ALIGNMENT);
    size_t chunk_bytes = CHUNK_BYTES_MIN;
    size_t count;

    if (object_bytes == 0 || object_bytes > OBJECT_BYTES_MAX)
        return -EINVAL;
    while (chunk_bytes < OBJECTS_MIN * stride)
        chunk_bytes *= 2;
    count = chunk_bytes / stride;
    while (offset_of_first(count) + count * stride > chunk_bytes)
        count--;
    *pool = (struct pool){
        .stride_bytes = stride,
        .chunk_bytes = chunk_bytes,
        .first_offset = offset_of_first(count),
        .objects_per_chunk = count,
    };
    return 0;
}

void pool_deinit(struct pool *pool)
{
    struct pool_chunk *chunk = pool->chunks;

    ASSERT(pool_check(pool), "a pool was damaged");
    while (chunk != NULL) {
        struct pool_chunk *next = chunk->next;

        memory_unmap(chunk, pool->chunk_bytes);
        chunk = next;
    }
    *pool = (struct pool){0};
}

static struct pool_chunk *chunk_of(const struct pool *pool, const void *object)
{
    return (struct pool_chunk *)((uintptr_t)object & ~(pool->chunk_bytes - 1));
}

static void *object_at(const struct pool *pool, struct pool_chunk *chunk, size_t index)
{
    return (uint8_t *)chunk + pool->first_offset + index * pool->stride_bytes;
}

static size_t index_of(const struct pool *pool, const void *object)
{
    return ((size_t)((uintptr_t)object & (pool->chunk_bytes - 1)) - pool->first_offset) / pool->stride_bytes;
}

static bool is_taken(const struct pool_chunk *chunk, size_t index)
{
    return (chunk->taken[index / BITS_PER_WORD] >> (index % BITS_PER_WORD) & 1) != 0;
}

static void flip_taken(struct pool_chunk *chunk, size_t index)
{
    chunk->taken[index / BITS_PER_WORD] ^= 1ull << (index % BITS_PER_WORD);
}

static int add_chunk(struct pool *pool)
{
    void *memory;
    int result = memory_map_aligned(pool->chunk_bytes, pool->chunk_bytes, &memory);
    struct pool_chunk *chunk;

    if (result != 0)
        return result;
    chunk = memory;
    chunk->next = pool->chunks;
    pool->chunks = chunk;
    pool->chunk_count++;
    pool->fresh_count = pool->objects_per_chunk;
    return 0;
}

static void *take_fresh(struct pool *pool)
{
    if (pool->fresh_count == 0 && add_chunk(pool) != 0)
        return NULL;
    return object_at(pool, pool->chunks, pool->objects_per_chunk - pool->fresh_count--);
}

void *pool_allocate(struct pool *pool)
{
    void *object = pool->free;

    if (object != NULL)
        pool->free = pool->free->next;
    else
        object = take_fresh(pool);
    if (object == NULL)
        return NULL;
    flip_taken(chunk_of(pool, object), index_of(pool, object));
    pool->used_count++;
    return object;
}

static bool is_object(const struct pool *pool, const void *object)
{
    size_t offset = (uintptr_t)object & (pool->chunk_bytes - 1);
    const struct pool_chunk *chunk = pool->chunks;

    while (chunk != NULL && chunk != chunk_of(pool, object))
        chunk = chunk->next;
    return chunk != NULL && offset >= pool->first_offset && (offset - pool->first_offset) % pool->stride_bytes == 0 &&
           index_of(pool, object) < pool->objects_per_chunk;
}

bool pool_owns(const struct pool *pool, const void *object)
{
    return is_object(pool, object) && is_taken(chunk_of(pool, object), index_of(pool, object));
}

#ifdef NDEBUG
static bool may_be_freed(const struct pool *pool, const void *object)
{
    return is_taken(chunk_of(pool, object), index_of(pool, object));
}
#else
static bool may_be_freed(const struct pool *pool, const void *object)
{
    if (!is_object(pool, object)) {
        ASSERT(false, "giving back what is not an object of this pool");
        return false;
    }
    if (!is_taken(chunk_of(pool, object), index_of(pool, object))) {
        ASSERT(false, "giving back an object twice");
        return false;
    }
    return true;
}
#endif

void pool_free(struct pool *pool, void *object)
{
    struct pool_free_object *freed = object;

    if (object == NULL || !may_be_freed(pool, object))
        return;
    flip_taken(chunk_of(pool, object), index_of(pool, object));
    freed->next = pool->free;
    pool->free = freed;
    pool->used_count--;
}

static size_t count_taken(const struct pool *pool)
{
    size_t count = 0;

    for (const struct pool_chunk *chunk = pool->chunks; chunk != NULL; chunk = chunk->next) {
        for (size_t index = 0; index < pool->objects_per_chunk; index++)
            count += is_taken(chunk, index);
    }
    return count;
}

bool pool_check(const struct pool *pool)
{
    size_t total = pool->chunk_count * pool->objects_per_chunk;
    size_t free_count = 0;

    for (const struct pool_free_object *object = pool->free; object != NULL; object = object->next) {
        /* The count also ends a free list that has become a circle. */
        if (!is_object(pool, object) || pool_owns(pool, object) || ++free_count > total)
            return false;
    }
    return count_taken(pool) == pool->used_count && pool->used_count + free_count + pool->fresh_count == total;
}
