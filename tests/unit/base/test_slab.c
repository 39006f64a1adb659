/* SPDX-License-Identifier: MIT */
#include "base/slab.h"

#include "base/memory_map.h"
#include "support/check.h"

#define ROUNDS 3000

struct piece_of_memory {
    uint8_t *start;
    size_t size;
    uint8_t fill;
};

static struct piece_of_memory taken[ROUNDS];

static void take(struct slab *slab, struct piece_of_memory *piece, size_t size, size_t alignment)
{
    *piece = (struct piece_of_memory){slab_allocate(slab, size, alignment), size, (uint8_t)rand()};
    CHECK(piece->start != NULL);
    CHECK_EQUAL((uintptr_t)piece->start % alignment, 0);
    memset(piece->start, piece->fill, size);
}

static bool is_intact(const struct piece_of_memory *piece)
{
    for (size_t i = 0; i < piece->size; i++) {
        if (piece->start[i] != piece->fill)
            return false;
    }
    return true;
}

static void allocations_are_aligned_and_do_not_overlap(void)
{
    struct slab slab;
    size_t used = 0;

    slab_init(&slab, 8192);
    for (int i = 0; i < ROUNDS; i++) {
        size_t size = (size_t)rand() % (i % 50 == 0 ? 30000 : 300);

        take(&slab, &taken[i], size, 1ul << rand() % 13);
        used += size;
        CHECK(i % 100 != 0 || slab_check(&slab));
    }
    for (int i = 0; i < ROUNDS; i++)
        CHECK(is_intact(&taken[i]));
    CHECK_EQUAL(slab_stats(&slab).used_bytes, used);
    CHECK_EQUAL(slab_stats(&slab).allocation_count, ROUNDS);
    CHECK(slab_stats(&slab).mapped_bytes >= used);
    slab_deinit(&slab);
    CHECK(slab_check(&slab));
    CHECK_EQUAL(slab_stats(&slab).mapped_bytes, 0);
}

static void an_empty_slab_takes_no_memory(void)
{
    struct slab slab;

    slab_init(&slab, 0);
    CHECK_EQUAL(slab_stats(&slab).mapped_bytes, 0);
    CHECK(slab_check(&slab));
    slab_deinit(&slab);
}

static void memory_that_cannot_be_had_is_null_and_harmless(void)
{
    struct slab slab;

    slab_init(&slab, 0);
    CHECK(slab_allocate(&slab, SIZE_MAX, 16) == NULL);
    CHECK(slab_allocate(&slab, SIZE_MAX - 8, 1) == NULL);
    CHECK(slab_allocate_zeroed(&slab, 1ull << 60, 16) == NULL);
    CHECK(slab_check(&slab));
    CHECK(slab_allocate(&slab, 0, 1) != NULL);
    CHECK(slab_check(&slab));
    slab_deinit(&slab);
}

static const struct check_case cases[] = {
    CHECK_CASE(allocations_are_aligned_and_do_not_overlap),
    CHECK_CASE(an_empty_slab_takes_no_memory),

    CHECK_CASE(memory_that_cannot_be_had_is_null_and_harmless),
};

CHECK_MAIN(cases)
