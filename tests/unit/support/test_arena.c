/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support/arena.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/check.h"
#include "support/random.h"

enum { SIZE = 0x4000 };

static bool is_mapped(const uint8_t *page)
{
    unsigned char resident;

    return mincore((void *)page, 4096, &resident) == 0 || errno != ENOMEM;
}

static void arena_is_where_it_was_wanted_with_nothing_around_it(void)
{
    struct arena arena, second;

    CHECK_EQUAL(arena_init(&arena, ARENA_BASE, SIZE - 1, ARENA_DATA), 0);
    CHECK_EQUAL((uintptr_t)arena.base, ARENA_BASE);
    CHECK_EQUAL(arena.size_bytes, SIZE);
    CHECK_EQUAL(arena.base[SIZE - 1], 0);
    CHECK(is_mapped(arena.base + SIZE - 4096));
    CHECK(!is_mapped(arena.base - 4096));
    CHECK(!is_mapped(arena.base + SIZE));
    CHECK_EQUAL(arena_init(&second, ARENA_BASE + SIZE, SIZE, ARENA_DATA), -EEXIST);
    CHECK_EQUAL(arena_init(&second, ARENA_BASE + 1, SIZE, ARENA_DATA), -EINVAL);
    arena_deinit(&arena);
    CHECK_EQUAL(arena_init(&arena, ARENA_BASE, SIZE, ARENA_CODE), 0);
    arena_deinit(&arena);
}

static void difference_is_found_and_undone(void)
{
    struct arena arena;
    struct arena_image image;
    struct random random;
    size_t offset = 0;

    random_init(&random, 1);
    CHECK_EQUAL(arena_init(&arena, ARENA_BASE, SIZE, ARENA_DATA), 0);
    arena_fill(&arena, &random);
    CHECK_EQUAL(arena_image_init(&image, &arena), 0);
    CHECK(arena_equals(&arena, &image, &offset));
    arena.base[0x2fff] ^= 1;
    arena.base[0x3000] ^= 1;
    CHECK(!arena_equals(&arena, &image, &offset));
    CHECK_EQUAL(offset, 0x2fff);
    arena_restore(&arena, &image);
    CHECK(arena_equals(&arena, &image, &offset));
    arena.base[5] ^= 0xff;
    arena_image_capture(&image, &arena);
    CHECK(arena_equals(&arena, &image, &offset));
    arena_image_deinit(&image);
    arena_deinit(&arena);
}

static void same_seed_fills_with_the_same_bytes(void)
{
    struct arena arena;
    struct arena_image image;
    struct random random;
    size_t offset;

    CHECK_EQUAL(arena_init(&arena, ARENA_BASE, SIZE, ARENA_STACK), 0);
    random_init(&random, 2);
    arena_fill(&arena, &random);
    CHECK_EQUAL(arena_image_init(&image, &arena), 0);
    arena_fill(&arena, &random);
    CHECK(!arena_equals(&arena, &image, &offset));
    random_init(&random, 2);
    arena_fill(&arena, &random);
    CHECK(arena_equals(&arena, &image, &offset));
    CHECK_EQUAL(arena_span_of(&arena).address, ARENA_BASE);
    CHECK_EQUAL(arena_span_of(&arena).size_bytes, SIZE);
    arena_image_deinit(&image);
    arena_deinit(&arena);
}

static const struct check_case cases[] = {
    CHECK_CASE(arena_is_where_it_was_wanted_with_nothing_around_it),
    CHECK_CASE(difference_is_found_and_undone),
    CHECK_CASE(same_seed_fills_with_the_same_bytes),
};

CHECK_MAIN(cases)
