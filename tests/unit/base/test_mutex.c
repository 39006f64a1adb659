/* SPDX-License-Identifier: MIT */
#include "base/mutex.h"

#include "support/check.h"
#include "support/subject_thread.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#define THREADS 4
#define ROUNDS  20000

static struct mutex lock;
static uint64_t count GUARDED_BY(lock);
static atomic_int inside;
static atomic_int overlaps;

static void a_zeroed_one_is_free(void)
{
    struct mutex mutex = {0};

    CHECK(mutex_try_lock(&mutex));
    mutex_unlock(&mutex);
    mutex_lock(&mutex);
    mutex_unlock(&mutex);
    CHECK(mutex_try_lock(&mutex));
    mutex_unlock(&mutex);
}

static void *try_it(void *argument)
{
    struct mutex *mutex = argument;
    bool got = mutex_try_lock(mutex);

    if (got)
        mutex_unlock(mutex);
    return got ? argument : NULL;
}

static bool others_get(struct mutex *mutex)
{
    pthread_t thread;
    void *got;

    CHECK_EQUAL(pthread_create(&thread, NULL, try_it, mutex), 0);
    pthread_join(thread, &got);
    return got != NULL;
}

static void trying_does_not_wait(void)
{
    struct mutex mutex = {0};

    mutex_lock(&mutex);
    CHECK(!others_get(&mutex));
    mutex_unlock(&mutex);
    CHECK(others_get(&mutex));
}

static void enter_and_leave(void)
{
    mutex_lock(&lock);
    if (atomic_fetch_add(&inside, 1) != 0)
        atomic_fetch_add(&overlaps, 1);
    count++;
    atomic_fetch_sub(&inside, 1);
    mutex_unlock(&lock);
}

static void *enter_often(void *argument)
{
    for (int i = 0; i < ROUNDS; i++) {
        enter_and_leave();
        if (i % 64 == 0)
            sched_yield();
    }
    return argument;
}

static void only_one_thread_has_it(void)
{
    pthread_t threads[THREADS];
    uint64_t counted;

    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, enter_often, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    mutex_lock(&lock);
    counted = count;
    mutex_unlock(&lock);
    CHECK_EQUAL(counted, THREADS * ROUNDS);
    CHECK_EQUAL(overlaps, 0);
    CHECK(mutex_try_lock(&lock));
    mutex_unlock(&lock);
}

static atomic_long arrived;

static void wait_for_it(void *context)
{
    struct mutex *mutex = context;

    mutex_lock(mutex);
    atomic_fetch_add(&arrived, 1);
    mutex_unlock(mutex);
}

/* All of them sleep before the first one is let in: each unlock has to wake the next. */
static void whoever_waits_sleeps_and_is_woken(void)
{
    struct mutex mutex = {0};
    struct subject_thread threads[THREADS];

    mutex_lock(&mutex);
    for (int i = 0; i < THREADS; i++)
        subject_thread_start(&threads[i], wait_for_it, &mutex);
    for (int i = 0; i < THREADS; i++)
        subject_thread_wait_in(&threads[i], SYS_futex);
    CHECK_EQUAL(arrived, 0);
    mutex_unlock(&mutex);
    for (int i = 0; i < THREADS; i++)
        subject_thread_join(&threads[i]);
    CHECK_EQUAL(arrived, THREADS);
    CHECK(mutex_try_lock(&mutex));
    mutex_unlock(&mutex);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_zeroed_one_is_free),
    CHECK_CASE(trying_does_not_wait),
    CHECK_CASE(only_one_thread_has_it),
    CHECK_CASE(whoever_waits_sleeps_and_is_woken),
};

CHECK_MAIN(cases)
