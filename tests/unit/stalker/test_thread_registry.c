/* SPDX-License-Identifier: MIT */
/* A thread knows its own struct by its segment base, and takes nothing else for one, whatever the base is. */
#include "stalker/thread_registry.h"

#include "stalker/follow.h"
#include "stalker/stalker_gate.h"
#include "stalker/thread.h"
#include "support/check.h"

#include <pthread.h>

#define THREADS 4
#define ROUNDS  500

static struct stalker_thread *current_with(const void *base)
{
    uint64_t before = stalker_base_get();
    struct stalker_thread *found;

    stalker_base_set((uintptr_t)base);
    found = thread_registry_current();
    stalker_base_set(before);
    return found;
}

/* Runs first: nobody was ever added. */
static void without_structs_there_is_none(void)
{
    static struct stalker_thread never_added;

    CHECK(thread_registry_current() == NULL);
    CHECK(current_with(&never_added) == NULL);
}

static void a_struct_is_known_from_its_addition_to_its_removal(void)
{
    static struct stalker_thread one, other;

    one.tid = other.tid = stalker_current_tid();
    CHECK_EQUAL(thread_registry_add(&one), 0);
    CHECK(current_with(&one) == &one);
    CHECK(current_with(&other) == NULL);
    CHECK(current_with(NULL) == NULL);
    CHECK_EQUAL(thread_registry_add(&other), 0);
    CHECK(current_with(&other) == &other);
    thread_registry_remove(&one);
    CHECK(current_with(&one) == NULL);
    CHECK(current_with(&other) == &other);
    thread_registry_remove(&other);
    CHECK(current_with(&other) == NULL);
}

/* It is not looked at: it may be gone. */
static void a_base_that_is_no_struct_is_not_read(void)
{
    CHECK(current_with((const void *)0x10) == NULL);
    CHECK(current_with((const void *)0x7ffffffff000) == NULL);
}

/* What a thread or process finds that was made with the base of a followed one. */
static void the_struct_of_another_thread_is_not_ours(void)
{
    static struct stalker_thread thread;

    thread.tid = stalker_current_tid() + 1;
    CHECK_EQUAL(thread_registry_add(&thread), 0);
    CHECK(current_with(&thread) == NULL);
    thread.tid = stalker_current_tid();
    CHECK(current_with(&thread) == NULL);
    CHECK_EQUAL(thread_registry_add(&thread), 0);
    CHECK(current_with(&thread) == &thread);
    thread_registry_remove(&thread);
    CHECK(current_with(&thread) == NULL);
}

static void *come_and_go(void *foreign)
{
    struct stalker_thread thread = {.tid = stalker_current_tid()};
    uintptr_t mistakes = 0;

    for (unsigned i = 0; i < ROUNDS; i++) {
        mistakes += thread_registry_add(&thread) != 0;
        mistakes += current_with(&thread) != &thread;
        mistakes += current_with(foreign) != NULL;
        thread_registry_remove(&thread);
        mistakes += current_with(&thread) != NULL;
    }
    return (void *)mistakes;
}

static void threads_that_come_and_go_find_their_own(void)
{
    static struct stalker_thread ours;
    pthread_t threads[THREADS];

    ours.tid = stalker_current_tid();
    CHECK_EQUAL(thread_registry_add(&ours), 0);
    for (unsigned i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, come_and_go, &ours) != 0)
            check_skip("no thread to be had");
    for (unsigned i = 0; i < ROUNDS; i++)
        CHECK(current_with(&ours) == &ours);
    for (unsigned i = 0; i < THREADS; i++) {
        void *mistakes;

        pthread_join(threads[i], &mistakes);
        CHECK_EQUAL((uintptr_t)mistakes, 0);
    }
    thread_registry_remove(&ours);
}

/* A handler may run, in the very thread that has the lock. */
static void nobody_waits_to_find_its_struct(void)
{
    static struct stalker_thread thread;

    thread.tid = stalker_current_tid();
    CHECK_EQUAL(thread_registry_add(&thread), 0);
    thread_registry_lock();
    CHECK(current_with(&thread) == &thread);
    thread_registry_unlock();
    thread_registry_remove(&thread);
}

static const struct check_case cases[] = {
    CHECK_CASE(without_structs_there_is_none),           CHECK_CASE(a_struct_is_known_from_its_addition_to_its_removal),
    CHECK_CASE(a_base_that_is_no_struct_is_not_read),    CHECK_CASE(the_struct_of_another_thread_is_not_ours),
    CHECK_CASE(threads_that_come_and_go_find_their_own), CHECK_CASE(nobody_waits_to_find_its_struct),
};

CHECK_MAIN(cases)
