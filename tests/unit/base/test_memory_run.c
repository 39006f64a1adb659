/* SPDX-License-Identifier: MIT */
#include "base/memory_run.h"

#include "support/check.h"

#include <pthread.h>

#define START 0x10000
#define PAGE  0x1000
#define PAGES 1000

static unsigned char taken[PAGES];

static void without_a_run_there_is_nothing(void)
{
    uint64_t end;

    CHECK_EQUAL(memory_run_take(PAGE), 0);
    CHECK_EQUAL(memory_run_end(&end), 0);
}

static void pages_follow_each_other_until_there_are_no_more(void)
{
    uint64_t end;

    memory_run_begin(START, START + 4 * PAGE);
    CHECK_EQUAL(memory_run_take(PAGE), START);
    CHECK_EQUAL(memory_run_take(2 * PAGE), START + PAGE);
    CHECK_EQUAL(memory_run_take(2 * PAGE), 0);
    CHECK_EQUAL(memory_run_take(PAGE), START + 3 * PAGE);
    CHECK_EQUAL(memory_run_take(PAGE), 0);
    CHECK_EQUAL(memory_run_end(&end), 0);
}

static void the_rest_is_given_back_once(void)
{
    uint64_t end;

    memory_run_begin(START, START + 4 * PAGE);
    CHECK_EQUAL(memory_run_take(PAGE), START);
    CHECK_EQUAL(memory_run_end(&end), START + PAGE);
    CHECK_EQUAL(end, START + 4 * PAGE);
    CHECK_EQUAL(memory_run_take(PAGE), 0);
    CHECK_EQUAL(memory_run_end(&end), 0);
}

static void *take_all(void *unused)
{
    uint64_t page;

    (void)unused;
    while ((page = memory_run_take(PAGE)) != 0)
        __atomic_fetch_add(&taken[(page - START) / PAGE], 1, __ATOMIC_RELAXED);
    return NULL;
}

static void nobody_gets_what_another_thread_has(void)
{
    pthread_t threads[4];
    uint64_t end;

    memory_run_begin(START, START + (uint64_t)PAGES * PAGE);
    for (int i = 0; i < 4; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, take_all, NULL), 0);
    for (int i = 0; i < 4; i++)
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < PAGES; i++)
        CHECK_EQUAL(taken[i], 1);
    CHECK_EQUAL(memory_run_end(&end), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(without_a_run_there_is_nothing),
    CHECK_CASE(pages_follow_each_other_until_there_are_no_more),
    CHECK_CASE(the_rest_is_given_back_once),
    CHECK_CASE(nobody_gets_what_another_thread_has),
};

CHECK_MAIN(cases)
