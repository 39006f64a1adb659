/* SPDX-License-Identifier: MIT */
#include "base/counters.h"

#include "support/check.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>

#define THREADS   4
#define ADDITIONS 50000

static void additions_show_in_a_snapshot(void)
{
    struct counters_snapshot before, after;

    counters_read(&before);
    counter_add(COUNTER_code_patches, 3);
    counter_add(COUNTER_code_patches, 4);
    counters_read(&after);
    CHECK_EQUAL(after.values[COUNTER_code_patches] - before.values[COUNTER_code_patches], 7);
    CHECK_EQUAL(counter_read(COUNTER_code_patches), after.values[COUNTER_code_patches]);
    CHECK_EQUAL(after.values[COUNTER_code_aborts], before.values[COUNTER_code_aborts]);
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
    CHECK_CASE(additions_show_in_a_snapshot),
    CHECK_CASE(no_addition_of_any_thread_is_lost),
    CHECK_CASE(every_counter_is_described_and_found_by_its_name),
    CHECK_CASE(unknown_names_are_not_found),
};

CHECK_MAIN(cases)
