/* SPDX-License-Identifier: MIT */
#include "base/pool.h"

#include "base/assert.h"
#include "support/check.h"

#include <errno.h>

#define OBJECTS 3000
#define ROUNDS  100000

static char last_assertion[128];

static void remember_assertion(const char *text, const char *file, int line)
{
    (void)file;
    (void)line;
    snprintf(last_assertion, sizeof(last_assertion), "%s", text);
}

static void objects_do_not_overlap_and_are_aligned(void)
{
    static const size_t sizes[] = {1, 8, 16, 24, 64, 100, 4096, 70000};

    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        uint8_t *objects[100];
        struct pool pool;

        CHECK_EQUAL(pool_init(&pool, sizes[s]), 0);
        for (int i = 0; i < 100; i++) {
            objects[i] = pool_allocate(&pool);
            CHECK_EQUAL((uintptr_t)objects[i] % (sizes[s] % 64 == 0 ? 64 : 16), 0);
            memset(objects[i], i, sizes[s]);
        }
        CHECK(pool_check(&pool));
        for (int i = 0; i < 100; i++) {
            CHECK_EQUAL(objects[i][0], i);
            CHECK_EQUAL(objects[i][sizes[s] - 1], i);
        }
        pool_deinit(&pool);
    }
}

static void sizes_that_cannot_be_are_refused(void)
{
    struct pool pool;

    CHECK_EQUAL(pool_init(&pool, 0), -EINVAL);
    CHECK_EQUAL(pool_init(&pool, 17 * 1024 * 1024), -EINVAL);
    CHECK_EQUAL(pool_init(&pool, SIZE_MAX), -EINVAL);
}

static void an_empty_pool_takes_no_memory(void)
{
    struct pool pool;

    CHECK_EQUAL(pool_init(&pool, 32), 0);
    CHECK_EQUAL(pool_mapped_bytes(&pool), 0);
    CHECK(pool_check(&pool));
    CHECK(!pool_owns(&pool, &pool));
    pool_free(&pool, NULL);
    pool_deinit(&pool);
}

static void objects_given_back_are_used_again_before_new_memory(void)
{
    void *objects[OBJECTS];
    struct pool pool;
    size_t mapped;

    CHECK_EQUAL(pool_init(&pool, 200), 0);
    for (int i = 0; i < OBJECTS; i++)
        objects[i] = pool_allocate(&pool);
    mapped = pool_mapped_bytes(&pool);
    CHECK(mapped >= OBJECTS * 200);
    for (int i = 0; i < OBJECTS; i++)
        pool_free(&pool, objects[i]);
    CHECK_EQUAL(pool_used_count(&pool), 0);
    CHECK(pool_check(&pool));
    for (int i = 0; i < OBJECTS; i++)
        CHECK(pool_allocate(&pool) != NULL);
    CHECK_EQUAL(pool_mapped_bytes(&pool), mapped);
    CHECK(pool_check(&pool));
    pool_deinit(&pool);
}

static void random_use_keeps_every_object_intact(void)
{
    static uint64_t *objects[OBJECTS];
    struct pool pool;

    CHECK_EQUAL(pool_init(&pool, 40), 0);
    for (int round = 0; round < ROUNDS; round++) {
        int i = rand() % OBJECTS;

        if (objects[i] == NULL) {
            objects[i] = pool_allocate(&pool);
            for (int word = 0; word < 5; word++)
                objects[i][word] = (uint64_t)i;
        } else {
            for (int word = 0; word < 5; word++)
                CHECK_EQUAL(objects[i][word], i);
            CHECK(round % 100 != 0 || pool_owns(&pool, objects[i]));
            pool_free(&pool, objects[i]);
            CHECK(round % 100 != 0 || !pool_owns(&pool, objects[i]));
            objects[i] = NULL;
        }
        CHECK(round % 5000 != 0 || pool_check(&pool));
    }
    pool_deinit(&pool);
}

static void double_and_foreign_frees_are_asserted_and_ignored(void)
{
#ifndef NDEBUG
    struct pool pool, other;
    uint8_t *object, *foreign;

    CHECK_EQUAL(pool_init(&pool, 32), 0);
    CHECK_EQUAL(pool_init(&other, 32), 0);
    object = pool_allocate(&pool);
    foreign = pool_allocate(&other);
    assert_handler_set(remember_assertion);
    pool_free(&pool, foreign);
    CHECK_TEXT(last_assertion, "giving back what is not an object of this pool");
    last_assertion[0] = '\0';
    pool_free(&pool, object + 16);
    CHECK_TEXT(last_assertion, "giving back what is not an object of this pool");
    last_assertion[0] = '\0';
    pool_free(&pool, object);
    CHECK_TEXT(last_assertion, "");
    pool_free(&pool, object);
    CHECK_TEXT(last_assertion, "giving back an object twice");
    assert_handler_set(NULL);
    CHECK(pool_check(&pool) && pool_check(&other));
    pool_deinit(&pool);
    pool_deinit(&other);
#endif
    (void)remember_assertion;
}

static void check_notices_damage(void)
{
    struct pool pool;
    void **object;

    CHECK_EQUAL(pool_init(&pool, 32), 0);
    object = pool_allocate(&pool);
    pool_free(&pool, object);
    CHECK(pool_check(&pool));
    *object = object;
    CHECK(!pool_check(&pool));
    *object = &pool;
    CHECK(!pool_check(&pool));
    *object = NULL;
    pool_deinit(&pool);
}

static const struct check_case cases[] = {
    CHECK_CASE(objects_do_not_overlap_and_are_aligned),
    CHECK_CASE(sizes_that_cannot_be_are_refused),
    CHECK_CASE(an_empty_pool_takes_no_memory),
    CHECK_CASE(objects_given_back_are_used_again_before_new_memory),
    CHECK_CASE(random_use_keeps_every_object_intact),
    CHECK_CASE(double_and_foreign_frees_are_asserted_and_ignored),
    CHECK_CASE(check_notices_damage),
};

CHECK_MAIN(cases)
