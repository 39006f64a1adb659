/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "process/thread_name.h"

#include "support/check.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static int other_tid;

static void *wait_to_be_looked_at(void *context)
{
    (void)context;
    other_tid = gettid();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void our_own_name_is_told(void)
{
    char name[THREAD_NAME_BYTES];

    prctl(PR_SET_NAME, "with fifteen ch");
    thread_name_own(name);
    CHECK_TEXT(name, "with fifteen ch");
    thread_name_of(getpid(), name);
    CHECK_TEXT(name, "with fifteen ch");
    prctl(PR_SET_NAME, "");
    thread_name_own(name);
    CHECK_TEXT(name, "");
    thread_name_of(getpid(), name);
    CHECK_TEXT(name, "");
}

static void other_threads_names_are_told(void)
{
    char name[THREAD_NAME_BYTES];
    pthread_t other;

    pthread_barrier_init(&barrier, NULL, 2);
    CHECK_EQUAL(pthread_create(&other, NULL, wait_to_be_looked_at, NULL), 0);
    pthread_barrier_wait(&barrier);
    CHECK_EQUAL(pthread_setname_np(other, "worker"), 0);
    thread_name_of(other_tid, name);
    CHECK_TEXT(name, "worker");
    pthread_barrier_wait(&barrier);
    pthread_join(other, NULL);
}

static void who_is_not_there_has_none(void)
{
    char name[THREAD_NAME_BYTES] = "x";

    thread_name_of(0, name);
    CHECK_TEXT(name, "");
}

static const struct check_case cases[] = {
    CHECK_CASE(our_own_name_is_told),
    CHECK_CASE(other_threads_names_are_told),
    CHECK_CASE(who_is_not_there_has_none),
};

CHECK_MAIN(cases)
