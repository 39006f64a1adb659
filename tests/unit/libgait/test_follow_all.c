/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE /* gettid */
#include "gait/stalker.h"

#include "support/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define THREADS 6

static atomic_bool is_over;
static atomic_uint begun;
static _Atomic uint64_t rounds[THREADS];
static int tids[THREADS];

static void *run(void *number)
{
    size_t which = (size_t)(uintptr_t)number;

    tids[which] = gettid();
    atomic_fetch_add(&begun, 1);
    while (!atomic_load(&is_over)) {
        atomic_fetch_add(&rounds[which], 1);
        if (which % 2 == 0)
            usleep(100);
    }
    return NULL;
}

static void start(pthread_t *threads)
{
    atomic_store(&is_over, false);
    atomic_store(&begun, 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, run, (void *)i), 0);
    while (atomic_load(&begun) < THREADS)
        usleep(100);
}

static void stop(pthread_t *threads)
{
    atomic_store(&is_over, true);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Whether every thread goes on. */
static void wait_for_rounds(void)
{
    for (unsigned i = 0; i < THREADS; i++) {
        uint64_t from = atomic_load(&rounds[i]);

        while (atomic_load(&rounds[i]) < from + 3)
            usleep(100);
    }
}

static void all_threads_but_the_calling_one_are_followed_and_let_go(void)
{
    struct gait_stalker *stalker;
    struct gait_error err;
    pthread_t threads[THREADS];
    size_t count = 0;

    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, &err), 0);
    start(threads);
    CHECK_EQUAL(gait_stalker_follow_all(stalker, NULL, &count, &err), 0);
    CHECK_EQUAL(count, THREADS);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(gait_stalker_is_following(stalker, tids[i]));
    CHECK(!gait_stalker_is_following_me(stalker));
    wait_for_rounds();
    /* Those that are followed already are not followed twice. */
    CHECK_EQUAL(gait_stalker_follow_all(stalker, NULL, &count, &err), 0);
    CHECK_EQUAL(count, 0);
    CHECK_EQUAL(gait_stalker_unfollow_all(stalker, &err), 0);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(!gait_stalker_is_following(stalker, tids[i]));
    wait_for_rounds();
    stop(threads);
    gait_stalker_destroy(stalker);
}

/* They go on natively. */
static void threads_are_let_go_when_their_stalker_is_destroyed(void)
{
    struct gait_stalker *stalker;
    pthread_t threads[THREADS];
    size_t count = 0;

    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, NULL), 0);
    start(threads);
    CHECK_EQUAL(gait_stalker_follow_all(stalker, NULL, &count, NULL), 0);
    CHECK_EQUAL(count, THREADS);
    wait_for_rounds();
    gait_stalker_destroy(stalker);
    wait_for_rounds();
    stop(threads);
}

static void options_that_are_wrong_are_told(void)
{
    struct gait_follow_options options = {.size_bytes = sizeof(options), .events = 0x8000};
    struct gait_stalker *stalker;
    struct gait_error err;
    pthread_t threads[THREADS];
    size_t count = 0;

    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, &err), 0);
    start(threads);
    CHECK(gait_stalker_follow_all(stalker, &options, &count, &err) < 0);
    CHECK(strstr(err.text, "0x8000") != NULL);
    CHECK_EQUAL(count, 0);
    stop(threads);
    gait_stalker_destroy(stalker);
}

static const struct check_case cases[] = {
    CHECK_CASE(all_threads_but_the_calling_one_are_followed_and_let_go),
    CHECK_CASE(threads_are_let_go_when_their_stalker_is_destroyed),
    CHECK_CASE(options_that_are_wrong_are_told),
};

CHECK_MAIN(cases)
