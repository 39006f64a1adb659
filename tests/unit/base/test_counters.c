/* SPDX-License-Identifier: MIT */
#include "base/counters.h"

#include "support/check.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>

#define THREADS   4
#define ADDITIONS 50000

static void additions_show(void)
{
    uint64_t patches = counter_read(COUNTER_code_patches), aborts = counter_read(COUNTER_code_aborts);

    counter_add(COUNTER_code_patches, 3);
    counter_add(COUNTER_code_patches, 4);
    CHECK_EQUAL(counter_read(COUNTER_code_patches) - patches, 7);
    CHECK_EQUAL(counter_read(COUNTER_code_aborts), aborts);
}

static void what_was_counted_moves_along_and_begins_anew_afterwards(void)
{
    static _Atomic uint64_t elsewhere[COUNTER_COUNT], further[COUNTER_COUNT];
    uint64_t before;

    counter_add(COUNTER_code_patches, 5);
    before = counter_read(COUNTER_code_patches);
    elsewhere[COUNTER_code_patches] = 100;
    counters_move(elsewhere);
    counter_add(COUNTER_code_patches, 1);
    CHECK_EQUAL(elsewhere[COUNTER_code_patches], 100 + before + 1);
    /* What is in other memory stays there. */
    counters_move(further);
    counter_add(COUNTER_code_patches, 1);
    CHECK_EQUAL(further[COUNTER_code_patches], 1);
    CHECK_EQUAL(elsewhere[COUNTER_code_patches], 100 + before + 1);
    counters_move(NULL);
    CHECK_EQUAL(counter_read(COUNTER_code_patches), 0);
    counter_add(COUNTER_code_patches, 1);
    CHECK_EQUAL(further[COUNTER_code_patches], 1);
}

static void *add_many(void *argument)
{
    (void)argument;
    for (int i = 0; i < ADDITIONS; i++)
        counter_add(COUNTER_code_commits, 1);
    return NULL;
}

static void no_addition_of_any_thread_is_lost(void)
{
    uint64_t before = counter_read(COUNTER_code_commits);
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, add_many, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQUAL(counter_read(COUNTER_code_commits) - before, THREADS * ADDITIONS);
}

static void every_counter_is_described_and_found_by_its_name(void)
{
    for (int i = 0; i < COUNTER_COUNT; i++) {
        const struct counter_description *description = counter_describe((enum counter)i);
        enum counter found = COUNTER_COUNT;

        CHECK(islower(description->name[0]));
        CHECK(description->unit[0] != '\0');
        CHECK(strlen(description->explanation) > 10);
        CHECK(description->consequence == NULL || strlen(description->consequence) > 10);
        CHECK_EQUAL(counter_find(description->name, &found), 0);
        CHECK_EQUAL(found, i);
    }
}

static void unknown_names_are_not_found(void)
{
    enum counter found = COUNTER_COUNT;

    CHECK_EQUAL(counter_find("", &found), -ENOENT);
    CHECK_EQUAL(counter_find("code_patche", &found), -ENOENT);
    CHECK_EQUAL(counter_find("code_patches_", &found), -ENOENT);
    CHECK_EQUAL(found, COUNTER_COUNT);
}

static const struct check_case cases[] = {
    CHECK_CASE(additions_show),
    CHECK_CASE(what_was_counted_moves_along_and_begins_anew_afterwards),
    CHECK_CASE(no_addition_of_any_thread_is_lost),
    CHECK_CASE(every_counter_is_described_and_found_by_its_name),
    CHECK_CASE(unknown_names_are_not_found),
};

CHECK_MAIN(cases)
