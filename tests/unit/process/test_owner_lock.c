/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "process/owner_lock.h"

#include "support/check.h"
#include "support/forbid.h"
#include "support/subject_thread.h"

#include <errno.h>
#include <unistd.h>

#define THREADS      4
#define ROUNDS       20000
#define LONG_TIME_MS 60000

static struct owner_lock lock;
static long counter;

static void count_under_the_lock(void *context)
{
    (void)context;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQUAL(owner_lock_acquire(&lock, LONG_TIME_MS), 0);
        counter++;
        owner_lock_release(&lock);
    }
}

static void one_thread_at_a_time_has_it(void)
{
    struct subject_thread subjects[THREADS];

    for (int i = 0; i < THREADS; i++)
        subject_thread_start(&subjects[i], count_under_the_lock, NULL);
    for (int i = 0; i < THREADS; i++)
        subject_thread_join(&subjects[i]);
    CHECK_EQUAL(counter, (long)THREADS * ROUNDS);
}

static void its_owner_is_told_instead_of_waiting_for_itself(void)
{
    CHECK_EQUAL(owner_lock_acquire(&lock, LONG_TIME_MS), 0);
    CHECK_EQUAL(owner_lock_acquire(&lock, LONG_TIME_MS), -EDEADLK);
    owner_lock_release(&lock);
    CHECK_EQUAL(owner_lock_acquire(&lock, LONG_TIME_MS), 0);
    owner_lock_release(&lock);
}

static void expect_timeout(void *context)
{
    (void)context;
    CHECK_EQUAL(owner_lock_acquire(&lock, 1), -ETIMEDOUT);
}

static void a_wait_for_a_live_owner_ends(void)
{
    struct subject_thread subject;

    CHECK_EQUAL(owner_lock_acquire(&lock, LONG_TIME_MS), 0);
    subject_thread_start(&subject, expect_timeout, NULL);
    subject_thread_join(&subject);
    owner_lock_release(&lock);
}

static void acquire_as_a_child(void)
{
    if (owner_lock_acquire(&lock, LONG_TIME_MS) != 0)
        _exit(1);
    owner_lock_release(&lock);
}

static void a_child_takes_it_from_an_owner_it_does_not_have(void)
{
    CHECK_EQUAL(owner_lock_acquire(&lock, LONG_TIME_MS), 0);
    CHECK_EQUAL(forbid_in_child(acquire_as_a_child), 0);
    owner_lock_release(&lock);
}

static const struct check_case cases[] = {
    CHECK_CASE(one_thread_at_a_time_has_it),
    CHECK_CASE(its_owner_is_told_instead_of_waiting_for_itself),
    CHECK_CASE(a_wait_for_a_live_owner_ends),
    CHECK_CASE(a_child_takes_it_from_an_owner_it_does_not_have),
};

CHECK_MAIN(cases)
