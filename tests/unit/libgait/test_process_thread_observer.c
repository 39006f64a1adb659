/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "gait/process.h"

#include "support/check.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <unistd.h>

static struct gait_error error;
static struct gait_thread_observer *observer;
static char told[512];
static int other;

static void note(const char *what, int tid, const char *before, const char *name)
{
    if (tid == other)
        snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s %s%s;", what, before, name);
}

static void started(void *context, int tid, const char *name, uint64_t time)
{
    CHECK(context == told && time != 0);
    note("started", tid, "", name);
}

static void ended(void *context, int tid, const char *name, uint64_t time)
{
    CHECK(context == told && time != 0);
    note("ended", tid, "", name);
}

static void renamed(void *context, int tid, const char *name_before, const char *name, uint64_t time)
{
    CHECK(context == told && time != 0);
    note("renamed", tid, name_before, name);
    CHECK_EQUAL(gait_thread_observer_look(observer, 0, &error), -EDEADLK);
}

static sem_t go, done;

static void *work(void *context)
{
    prctl(PR_SET_NAME, "one");
    other = gettid();
    sem_post(&done);
    sem_wait(&go);
    prctl(PR_SET_NAME, "two");
    sem_post(&done);
    sem_wait(&go);
    return context;
}

static void threads_are_told_when_somebody_looks(void)
{
    const struct gait_thread_listener listener = {sizeof(listener), told, started, ended, renamed};
    pthread_t thread;

    sem_init(&go, 0, 0);
    sem_init(&done, 0, 0);
    CHECK_EQUAL(gait_thread_observer_create(&listener, false, &observer, &error), 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, work, NULL), 0);
    sem_wait(&done);
    CHECK_EQUAL(gait_thread_observer_look(observer, other, &error), 0);
    CHECK_TEXT(told, "started one;");
    sem_post(&go);
    sem_wait(&done);
    CHECK_EQUAL(gait_thread_observer_look(observer, 0, &error), 0);
    CHECK_TEXT(told, "started one;renamed onetwo;");
    sem_post(&go);
    pthread_join(thread, NULL);
    for (unsigned i = 0; i < 1000 && strstr(told, "ended") == NULL; i++)
        CHECK_EQUAL(gait_thread_observer_look(observer, 0, &error), 0);
    CHECK_TEXT(told, "started one;renamed onetwo;ended two;");
    gait_thread_observer_destroy(observer);
}

static void wrong_arguments_are_refused(void)
{
    struct gait_thread_listener listener = {.size_bytes = 0};

    CHECK_EQUAL(gait_thread_observer_create(&listener, false, &observer, &error), -EINVAL);
    CHECK_EQUAL(gait_thread_observer_look(NULL, 0, &error), -EINVAL);
    gait_thread_observer_destroy(NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(threads_are_told_when_somebody_looks),
    CHECK_CASE(wrong_arguments_are_refused),
};

CHECK_MAIN(cases)
