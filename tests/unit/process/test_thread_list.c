/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "process/thread_list.h"

#include "support/check.h"
#include "support/subject_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY 200

static void wait_for_end_of_input(void *context)
{
    char byte;

    CHECK_EQUAL(read(*(int *)context, &byte, 1), 0);
}

static bool contains(const int *tids, size_t count, int tid)
{
    for (size_t i = 0; i < count; i++)
        if (tids[i] == tid)
            return true;
    return false;
}

static void the_calling_thread_knows_its_tid(void)
{
    CHECK_EQUAL(thread_current(), getpid());
}

/* More than fit into one getdents64 call. */
static void all_threads_are_listed_once(void)
{
    static struct subject_thread subjects[MANY];
    int tids[2 * MANY], ends[2];
    size_t count = 0;

    CHECK_EQUAL(pipe(ends), 0);
    for (int i = 0; i < MANY; i++)
        subject_thread_start(&subjects[i], wait_for_end_of_input, &ends[0]);
    CHECK_EQUAL(thread_list_read(tids, 2 * MANY, &count), 0);
    CHECK(count > MANY);
    CHECK(contains(tids, count, thread_current()));
    for (int i = 0; i < MANY; i++)
        CHECK(contains(tids, count, subjects[i].tid));
    for (size_t i = 0; i < count; i++)
        CHECK(!contains(tids + i + 1, count - i - 1, tids[i]));
    close(ends[1]);
    for (int i = 0; i < MANY; i++)
        subject_thread_join(&subjects[i]);
    close(ends[0]);
}

static void an_array_that_is_too_small_is_filled_and_the_rest_counted(void)
{
    struct subject_thread subject;
    int ends[2], tids[2] = {-1, -1};
    size_t count = 0;

    CHECK_EQUAL(pipe(ends), 0);
    subject_thread_start(&subject, wait_for_end_of_input, &ends[0]);
    CHECK_EQUAL(thread_list_read(tids, 1, &count), 0);
    CHECK(count >= 2);
    CHECK(tids[0] > 0);
    CHECK_EQUAL(tids[1], -1);
    close(ends[1]);
    subject_thread_join(&subject);
    close(ends[0]);
}

static bool count_one(void *context, int tid)
{
    (void)tid;
    (*(int *)context)++;
    return false;
}

static void a_visitor_can_end_the_enumeration_and_no_descriptor_is_left(void)
{
    int visited = 0, before = dup(0), after;

    close(before);
    CHECK_EQUAL(thread_list_visit(count_one, &visited), 0);
    CHECK_EQUAL(visited, 1);
    after = dup(0);
    CHECK_EQUAL(after, before);
    close(after);
}

static void spin(void *context)
{
    while (!atomic_load((atomic_bool *)context))
        continue;
}

static void states_are_those_of_the_thread(void)
{
    struct subject_thread sleeper, spinner;
    enum thread_state state = THREAD_STATE_OTHER;
    atomic_bool enough = false;
    int ends[2];

    CHECK_EQUAL(pipe(ends), 0);
    subject_thread_start(&sleeper, wait_for_end_of_input, &ends[0]);
    subject_thread_wait_in(&sleeper, SYS_read);
    CHECK_EQUAL(thread_state_read(sleeper.tid, &state), 0);
    CHECK_EQUAL(state, THREAD_SLEEPING);
    subject_thread_start(&spinner, spin, &enough);
    do
        CHECK_EQUAL(thread_state_read(spinner.tid, &state), 0);
    while (state != THREAD_RUNNING);
    atomic_store(&enough, true);
    close(ends[1]);
    subject_thread_join(&sleeper);
    subject_thread_join(&spinner);
    close(ends[0]);
}

static void a_name_with_parentheses_does_not_hide_the_state(void)
{
    enum thread_state state = THREAD_STATE_OTHER;
    char name[16];

    prctl(PR_GET_NAME, name);
    prctl(PR_SET_NAME, "a) Z (b) D) T (");
    CHECK_EQUAL(thread_state_read(thread_current(), &state), 0);
    CHECK_EQUAL(state, THREAD_RUNNING);
    prctl(PR_SET_NAME, name);
}

static void return_at_once(void *context)
{
    (void)context;
}

static void only_live_threads_of_this_process_exist(void)
{
    struct subject_thread subject;
    enum thread_state state;

    CHECK(thread_exists(thread_current()));
    CHECK(!thread_exists(1));
    CHECK(!thread_exists(0));
    CHECK(!thread_exists(-1));
    CHECK_EQUAL(thread_state_read(1, &state), -ESRCH);
    subject_thread_start(&subject, return_at_once, NULL);
    subject_thread_join(&subject);
    /* Joining returns a little before the kernel has forgotten the thread. */
    while (thread_exists(subject.tid))
        sched_yield();
    CHECK_EQUAL(thread_state_read(subject.tid, &state), -ESRCH);
}

/* Runs in a child, whose main thread ends while this one goes on. */
static void *expect_ended_main_thread(void *context)
{
    (void)context;
    while (thread_exists(getpid()))
        sched_yield();
    _exit(syscall(SYS_tgkill, getpid(), getpid(), 0) == 0 ? 0 : 1);
}

static void a_main_thread_that_ended_before_the_others_does_not_exist(void)
{
    int status = -1;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        pthread_t thread;

        pthread_create(&thread, NULL, expect_ended_main_thread, NULL);
        syscall(SYS_exit, 0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

static void the_count_is_that_of_a_list_when_nobody_starts_or_ends(void)
{
    size_t counted = 0, listed = 99;

    CHECK_EQUAL(thread_list_count(&counted), 0);
    CHECK_EQUAL(thread_list_read(NULL, 0, &listed), 0);
    CHECK_EQUAL(counted, listed);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_calling_thread_knows_its_tid),
    CHECK_CASE(all_threads_are_listed_once),
    CHECK_CASE(an_array_that_is_too_small_is_filled_and_the_rest_counted),
    CHECK_CASE(a_visitor_can_end_the_enumeration_and_no_descriptor_is_left),
    CHECK_CASE(the_count_is_that_of_a_list_when_nobody_starts_or_ends),
    CHECK_CASE(states_are_those_of_the_thread),
    CHECK_CASE(a_name_with_parentheses_does_not_hide_the_state),
    CHECK_CASE(only_live_threads_of_this_process_exist),
    CHECK_CASE(a_main_thread_that_ended_before_the_others_does_not_exist),
};

CHECK_MAIN(cases)
