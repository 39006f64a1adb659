/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Threads that are told as it happens, without anybody looking. */
#define _GNU_SOURCE
#include "libgait/thread_watch.h"

#include "gait/process.h"
#include "support/check.h"

#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define THREADS_MAX 4000u

static struct gait_error error;
static struct gait_thread_observer *observer;
static _Atomic int start_count, end_count, name_count;
static _Atomic int last_start, last_end;
static char last_name[16];

static void started(void *context, int tid, const char *name, uint64_t time)
{
    (void)context;
    (void)name;
    CHECK(time != 0);
    last_start = tid;
    start_count++;
}

static void ended(void *context, int tid, const char *name, uint64_t time)
{
    (void)context;
    (void)name;
    CHECK(time != 0);
    last_end = tid;
    end_count++;
}

static void renamed(void *context, int tid, const char *name_before, const char *name, uint64_t time)
{
    (void)context;
    (void)tid;
    (void)name_before;
    CHECK(time != 0);
    snprintf(last_name, sizeof(last_name), "%s", name);
    name_count++;
}

static void begin(void)
{
    static const struct gait_thread_listener listener = {sizeof(listener), NULL, started, ended, renamed};

    CHECK_EQUAL(gait_thread_observer_create(&listener, true, &observer, &error), 0);
    start_count = end_count = name_count = 0;
}

static void end(void)
{
    gait_thread_observer_destroy(observer);
}

static _Atomic int own_tid;
static bool was_told_first;

static void *return_argument(void *context)
{
    own_tid = gettid();
    was_told_first = last_start == own_tid;
    return context;
}

static void *exit_thread(void *context)
{
    own_tid = gettid();
    pthread_exit(context);
}

static void *wait_to_be_cancelled(void *context)
{
    own_tid = gettid();
    for (;;)
        pause();
    return context;
}

static void starts_and_ends_are_told_as_they_happen(void)
{
    void *(*const functions[])(void *context) = {return_argument, exit_thread};
    pthread_t thread;
    void *value = NULL;

    begin();
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQUAL(pthread_create(&thread, NULL, functions[i], &error), 0);
        CHECK_EQUAL(pthread_join(thread, &value), 0);
        CHECK(value == &error);
        CHECK_EQUAL(start_count, (int)i + 1);
        CHECK_EQUAL(end_count, (int)i + 1);
        CHECK_EQUAL(last_start, own_tid);
        CHECK_EQUAL(last_end, own_tid);
    }
    CHECK(was_told_first);
    own_tid = 0;
    CHECK_EQUAL(pthread_create(&thread, NULL, wait_to_be_cancelled, NULL), 0);
    while (own_tid == 0)
        usleep(100);
    CHECK_EQUAL(pthread_cancel(thread), 0);
    CHECK_EQUAL(pthread_join(thread, &value), 0);
    CHECK(value == PTHREAD_CANCELED);
    CHECK_EQUAL(end_count, 3);
    CHECK_EQUAL(gait_thread_observer_look(observer, 0, &error), 0);
    CHECK_EQUAL(start_count, 3);
    CHECK_EQUAL(end_count, 3);
    end();
}

static void names_are_told_as_they_are_set(void)
{
    char before[16];

    begin();
    prctl(PR_GET_NAME, before);
    prctl(PR_SET_NAME, "by control");
    CHECK_EQUAL(name_count, 1);
    CHECK_TEXT(last_name, "by control");
    CHECK_EQUAL(pthread_setname_np(pthread_self(), "by name"), 0);
    CHECK_EQUAL(name_count, 2);
    CHECK_TEXT(last_name, "by name");
    CHECK_EQUAL(pthread_setname_np(pthread_self(), before), 0);
    end();
}

static void a_thread_that_is_not_made_is_not_told(void)
{
    pthread_attr_t attributes;
    pthread_t thread;

    begin();
    CHECK_EQUAL(pthread_attr_init(&attributes), 0);
    CHECK_EQUAL(pthread_attr_setstacksize(&attributes, (size_t)1 << 46), 0);
    for (unsigned i = 0; i < 100; i++)
        CHECK(pthread_create(&thread, &attributes, return_argument, NULL) != 0);
    CHECK_EQUAL(start_count, 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, return_argument, NULL), 0);
    pthread_join(thread, NULL);
    CHECK_EQUAL(start_count, 1);
    pthread_attr_destroy(&attributes);
    end();
}

static void *make_threads(void *context)
{
    for (unsigned i = 0; i < 200; i++) {
        pthread_t thread;
        void *value = NULL;

        CHECK_EQUAL(pthread_create(&thread, NULL, return_argument, &error), 0);
        pthread_join(thread, &value);
        CHECK(value == &error);
    }
    return context;
}

static void none_is_missed(void)
{
    pthread_t threads[4];

    begin();
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, make_threads, NULL), 0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQUAL(start_count, 4 + 4 * 200);
    CHECK_EQUAL(end_count, 4 + 4 * 200);
    end();
    CHECK_EQUAL(pthread_create(&threads[0], NULL, return_argument, NULL), 0);
    pthread_join(threads[0], NULL);
    CHECK_EQUAL(start_count, 4 + 4 * 200);
}

static const struct check_case cases[] = {
    CHECK_CASE(starts_and_ends_are_told_as_they_happen),
    CHECK_CASE(names_are_told_as_they_are_set),
    CHECK_CASE(a_thread_that_is_not_made_is_not_told),
    CHECK_CASE(none_is_missed),
};

CHECK_MAIN(cases)
