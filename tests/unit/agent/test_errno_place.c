/* SPDX-License-Identifier: MIT */
/* Where errno of the calling thread is, by the C library's function that says so, which is not called. */
#define _GNU_SOURCE
#include "agent/errno_place.h"

#include "support/check_apart.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

static uint64_t library_function(void)
{
    return (uintptr_t)dlsym(RTLD_DEFAULT, "__errno_location");
}

/* Looks like no such function. */
static __attribute__((noinline)) int another(int value)
{
    return value * 3 + 1;
}

static void before_a_function_is_known_there_is_no_place(void)
{
    CHECK_EQUAL(errno_place_find(), 0);
}

static void *find_in_thread(void *place_out)
{
    *(uint64_t *)place_out = errno_place_find();
    CHECK_EQUAL(*(uint64_t *)place_out, (uintptr_t)&errno);
    return NULL;
}

static void each_thread_has_a_place_of_its_own(void)
{
    uint64_t other = 0;
    pthread_t thread;

    errno_place_add(library_function());
    CHECK_EQUAL(errno_place_find(), (uintptr_t)&errno);
    CHECK_EQUAL(pthread_create(&thread, NULL, find_in_thread, &other), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK(other != 0 && other != (uintptr_t)&errno);
}

static void the_first_function_counts(void)
{
    errno_place_add(library_function());
    errno_place_add((uintptr_t)another);
    CHECK_EQUAL(errno_place_find(), (uintptr_t)&errno);
}

static void a_function_that_is_not_understood_gives_no_place(void)
{
    errno_place_add((uintptr_t)another);
    CHECK_EQUAL(errno_place_find(), 0);
}

static void a_function_that_cannot_be_read_leaves_room_for_the_next(void)
{
    errno_place_add(16);
    errno_place_add(UINT64_MAX - 8);
    CHECK_EQUAL(errno_place_find(), 0);
    errno_place_add(library_function());
    CHECK_EQUAL(errno_place_find(), (uintptr_t)&errno);
}

static void a_function_that_is_gone_is_forgotten(void)
{
    uint64_t address = library_function();

    errno_place_add(address);
    errno_place_remove(address + 1, address + 4096);
    errno_place_remove(address - 4096, address);
    CHECK_EQUAL(errno_place_find(), (uintptr_t)&errno);
    errno_place_remove(address, address + 1);
    CHECK_EQUAL(errno_place_find(), 0);
    errno_place_add(address);
    CHECK_EQUAL(errno_place_find(), (uintptr_t)&errno);
}

static const struct check_case cases[] = {
    CHECK_CASE(before_a_function_is_known_there_is_no_place),
    CHECK_CASE(each_thread_has_a_place_of_its_own),
    CHECK_CASE(the_first_function_counts),
    CHECK_CASE(a_function_that_is_not_understood_gives_no_place),
    CHECK_CASE(a_function_that_cannot_be_read_leaves_room_for_the_next),
    CHECK_CASE(a_function_that_is_gone_is_forgotten),
};

CHECK_APART_MAIN(cases)
