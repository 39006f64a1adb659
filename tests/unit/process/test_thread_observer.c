/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "process/thread_observer.h"

#include "support/check.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <unistd.h>

#define TOLD_MAX 100u

static struct told {
    char what; /* + - or r */
    struct observed_thread thread;
    char before[THREAD_NAME_BYTES];
    uint64_t time;
} told[TOLD_MAX];
static unsigned told_count;
static struct thread_observer observer;

static void note(char what, const struct observed_thread *thread, const char *before, uint64_t time)
{
    if (told_count == TOLD_MAX)
        return;
    told[told_count] = (struct told){.what = what, .thread = *thread, .time = time};
    strcpy(told[told_count++].before, before);
}

static void note_start(void *context, const struct observed_thread *thread, uint64_t time)
{
    CHECK(context == told);
    note('+', thread, "", time);
}

static void note_end(void *context, const struct observed_thread *thread, uint64_t time)
{
    CHECK(context == told);
    note('-', thread, "", time);
}

static void note_name(void *context, const struct observed_thread *thread, const char *before, uint64_t time)
{
    CHECK(context == told);
    note('r', thread, before, time);
}

static const struct thread_listener listener = {told, note_start, note_end, note_name};

/* ---- a thread that does as it is told ---------------------------------------------------------------------------- */

static sem_t go, done;
static const char *name;
static int tid;

static void *obey(void *context)
{
    (void)context;
    tid = gettid();
    sem_post(&done);
    for (;;) {
        sem_wait(&go);
        if (name == NULL)
            return NULL;
        prctl(PR_SET_NAME, name);
        sem_post(&done);
    }
}

static pthread_t start_thread(void)
{
    pthread_t thread;

    CHECK_EQUAL(pthread_create(&thread, NULL, obey, NULL), 0);
    sem_wait(&done);
    return thread;
}

static void rename_thread(const char *to)
{
    name = to;
    sem_post(&go);
    sem_wait(&done);
}

static void end_thread(pthread_t thread)
{
    name = NULL;
    sem_post(&go);
    pthread_join(thread, NULL);
    /* Who is joined may not be gone entirely. */
    while (access("/proc/self/task", F_OK) == 0) {
        char path[64];

        snprintf(path, sizeof(path), "/proc/self/task/%d", tid);
        if (access(path, F_OK) != 0)
            break;
    }
}

static void *end_at_once(void *context)
{
    return context;
}

static void begin(void)
{
    pthread_t thread;

    /* With the first one, sanitizers may start one of their own. */
    CHECK_EQUAL(pthread_create(&thread, NULL, end_at_once, NULL), 0);
    pthread_join(thread, NULL);
    told_count = 0;
    sem_init(&go, 0, 0);
    sem_init(&done, 0, 0);
    thread_observer_init(&observer, &listener);
}

static void starts_ends_and_names_are_told(void)
{
    pthread_t thread;
    unsigned at;

    begin();
    CHECK_EQUAL(thread_observer_look(&observer), 0);
    CHECK(told_count >= 1);
    CHECK_EQUAL(told[0].thread.tid, getpid());
    at = told_count;
    CHECK_EQUAL(thread_observer_look(&observer), 0);
    CHECK_EQUAL(told_count, at);

    thread = start_thread();
    CHECK_EQUAL(thread_observer_look(&observer), 0);
    CHECK_EQUAL(told_count, at + 1);
    CHECK_EQUAL(told[at].what, '+');
    CHECK_EQUAL(told[at].thread.tid, tid);

    rename_thread("a (b) c) 1");
    CHECK_EQUAL(thread_observer_look(&observer), 0);
    CHECK_EQUAL(told_count, at + 2);
    CHECK_EQUAL(told[at + 1].what, 'r');
    CHECK_TEXT(told[at + 1].thread.name, "a (b) c) 1");
    CHECK_TEXT(told[at + 1].before, told[at].thread.name);

    end_thread(thread);
    CHECK_EQUAL(thread_observer_look(&observer), 0);
    CHECK_EQUAL(told_count, at + 3);
    CHECK_EQUAL(told[at + 2].what, '-');
    CHECK_EQUAL(told[at + 2].thread.tid, tid);
    CHECK_TEXT(told[at + 2].thread.name, "a (b) c) 1");
    CHECK(told[at + 2].time > told[at + 1].time && told[at + 1].time > told[at].time);
    thread_observer_deinit(&observer);
}

static void one_thread_can_be_looked_at(void)
{
    pthread_t first, second;
    int first_tid;

    begin();
    first = start_thread();
    first_tid = tid;
    second = start_thread();
    CHECK_EQUAL(thread_observer_look_at(&observer, tid), 0);
    CHECK_EQUAL(told_count, 1);
    CHECK_EQUAL(told[0].thread.tid, tid);
    CHECK_EQUAL(thread_observer_look_at(&observer, 0x7fffffff), 0);
    CHECK_EQUAL(thread_observer_look_at(&observer, 1), 0);
    CHECK_EQUAL(told_count, 1);
    name = NULL;
    sem_post(&go);
    sem_post(&go);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    while (told_count == 1)
        CHECK_EQUAL(thread_observer_look_at(&observer, tid), 0);
    CHECK_EQUAL(told[1].what, '-');
    CHECK_EQUAL(thread_observer_look_at(&observer, first_tid), 0);
    CHECK_EQUAL(told_count, 2);
    thread_observer_deinit(&observer);
}

static void an_end_that_is_told_is_not_told_again(void)
{
    pthread_t thread;
    unsigned at;

    begin();
    thread = start_thread();
    CHECK_EQUAL(thread_observer_look(&observer), 0);
    at = told_count;
    rename_thread("last");
    CHECK_EQUAL(thread_observer_note_end(&observer, tid), 0);
    CHECK_EQUAL(told_count, at + 2);
    CHECK_EQUAL(told[at].what, 'r');
    CHECK_EQUAL(told[at + 1].what, '-');
    CHECK_TEXT(told[at + 1].thread.name, "last");
    CHECK_EQUAL(thread_observer_look(&observer), 0);
    rename_thread("after all");
    CHECK_EQUAL(thread_observer_look(&observer), 0);
    CHECK_EQUAL(thread_observer_note_end(&observer, tid), 0);
    end_thread(thread);
    CHECK_EQUAL(thread_observer_look(&observer), 0);
    CHECK_EQUAL(told_count, at + 2);
    CHECK_EQUAL(thread_observer_note_end(&observer, 0x7ffffff), 0);
    CHECK_EQUAL(told_count, at + 2);
    thread_observer_deinit(&observer);
}

/* Threads come and go while others look. */
static void *look_around(void *context)
{
    for (unsigned i = 0; i < 100; i++)
        CHECK_EQUAL(thread_observer_look(&observer), 0);
    return context;
}

static int balance;

static void count_start(void *context, const struct observed_thread *thread, uint64_t time)
{
    (void)context;
    (void)thread;
    (void)time;
    balance++;
}

static void count_end(void *context, const struct observed_thread *thread, uint64_t time)
{
    (void)context;
    (void)thread;
    (void)time;
    balance--;
}

static void all_starts_have_their_end(void)
{
    static const struct thread_listener counting = {NULL, count_start, count_end, NULL};
    pthread_t lookers[2], thread;
    int at_first;

    thread_observer_init(&observer, &counting);
    CHECK_EQUAL(thread_observer_look(&observer), 0);
    at_first = balance;
    for (unsigned i = 0; i < 2; i++)
        CHECK_EQUAL(pthread_create(&lookers[i], NULL, look_around, NULL), 0);
    for (unsigned i = 0; i < 300; i++) {
        CHECK_EQUAL(pthread_create(&thread, NULL, end_at_once, NULL), 0);
        pthread_join(thread, NULL);
    }
    for (unsigned i = 0; i < 2; i++)
        pthread_join(lookers[i], NULL);
    for (unsigned i = 0; i < 1000 && balance != at_first; i++)
        CHECK_EQUAL(thread_observer_look(&observer), 0);
    CHECK_EQUAL(balance, at_first);
    thread_observer_deinit(&observer);
}

static const struct check_case cases[] = {
    CHECK_CASE(starts_ends_and_names_are_told),
    CHECK_CASE(one_thread_can_be_looked_at),
    CHECK_CASE(an_end_that_is_told_is_not_told_again),
    CHECK_CASE(all_starts_have_their_end),
};

CHECK_MAIN(cases)
