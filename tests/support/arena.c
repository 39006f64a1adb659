/* SPDX-License-Identifier: MIT */
/*
 * An arena is one mapping at a chosen address. The guards are not mapped at all, because a fault on memory that is not
 * there is reported differently from one on memory that is protected; the kernel places its own mappings top down, far
 * from here, so nothing moves in later.
 */
#include "support/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/random.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { COPY_UNIT_BYTES = 4096 };

static int protection_of(enum arena_use use)
{
    return use == ARENA_CODE ? PROT_READ | PROT_WRITE | PROT_EXEC : PROT_READ | PROT_WRITE;
}

static int claim(uint64_t address, size_t size_bytes)
{
    void *wanted = (void *)(uintptr_t)address;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *mapped = mmap(wanted, size_bytes, PROT_NONE, flags, -1, 0);

    if (mapped == MAP_FAILED)
        return -errno;
    if (mapped == wanted)
        return 0;
    /* A kernel that does not know the flag takes the address as a hint. */
    munmap(mapped, size_bytes);
    return -EEXIST;
}

int arena_init(struct arena *arena, uint64_t address, size_t size_bytes, enum arena_use use)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t guard = address - ARENA_GUARD_BYTES;

    size_bytes = (size_bytes + page_bytes - 1) / page_bytes * page_bytes;
    if (address % page_bytes != 0 || address < ARENA_GUARD_BYTES || size_bytes == 0)
        return -EINVAL;

    int status = claim(guard, size_bytes + 2 * ARENA_GUARD_BYTES);
    if (status != 0)
        return status;

    uint8_t *base = (uint8_t *)(uintptr_t)address;
    munmap(base - ARENA_GUARD_BYTES, ARENA_GUARD_BYTES);
    munmap(base + size_bytes, ARENA_GUARD_BYTES);
    if (mprotect(base, size_bytes, protection_of(use)) != 0) {
        status = -errno;
        munmap(base, size_bytes);
        return status;
    }
    arena->base = base;
    arena->size_bytes = size_bytes;
    return 0;
}

void arena_deinit(struct arena *arena)
{
    munmap(arena->base, arena->size_bytes);
    arena->base = NULL;
    arena->size_bytes = 0;
}

struct arena_span arena_span_of(const struct arena *arena)
{
    return (struct arena_span){(uint64_t)(uintptr_t)arena->base, arena->size_bytes};
}

void arena_fill(struct arena *arena, struct random *random)
{
    random_fill(random, arena->base, arena->size_bytes);
}

int arena_image_init(struct arena_image *image, const struct arena *arena)
{
    uint8_t *bytes = malloc(arena->size_bytes);

    if (bytes == NULL)
        return -ENOMEM;
    image->bytes = bytes;
    image->size_bytes = arena->size_bytes;
    arena_image_capture(image, arena);
    return 0;
}

void arena_image_deinit(struct arena_image *image)
{
    free(image->bytes);
    image->bytes = NULL;
    image->size_bytes = 0;
}

void arena_image_capture(struct arena_image *image, const struct arena *arena)
{
    memcpy(image->bytes, arena->base, image->size_bytes);
}

void arena_restore(struct arena *arena, const struct arena_image *image)
{
    for (size_t offset = 0; offset < image->size_bytes; offset += COPY_UNIT_BYTES) {
        if (memcmp(arena->base + offset, image->bytes + offset, COPY_UNIT_BYTES) != 0)
            memcpy(arena->base + offset, image->bytes + offset, COPY_UNIT_BYTES);
    }
}

bool arena_equals(const struct arena *arena, const struct arena_image *image, size_t *offset_out)
{
    if (memcmp(arena->base, image->bytes, image->size_bytes) == 0)
        return true;

    size_t offset = 0;

    while (arena->base[offset] == image->bytes[offset])
        offset++;
    *offset_out = offset;
    return false;
}
