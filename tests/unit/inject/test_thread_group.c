/* SPDX-License-Identifier: MIT */
/* All threads of a process are stopped, also while it makes new ones. */
#define _GNU_SOURCE
#include "inject/thread_group.h"

#include "inject/stop_patience.h"
#include "support/check.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct gait_error err;
static _Atomic uint64_t *rounds;

static void *end_at_once(void *nothing)
{
    atomic_fetch_add(rounds, 1);
    return nothing;
}

static void *make_threads(void *nothing)
{
    for (;;) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
            pthread_join(thread, NULL);
    }
    return nothing;
}

static pid_t start(void)
{
    pthread_t thread;
    pid_t child = fork();

    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, NULL, make_threads, NULL);
    make_threads(NULL);
    return 0;
}

static void nothing_runs_while_all_are_stopped(void)
{
    pid_t child = start();

    for (int i = 0; i < 50; i++) {
        struct thread_group group;
        uint64_t before;

        CHECK_EQUAL(thread_group_stop(&group, child, &err), 0);
        CHECK(group.count >= 1);
        before = atomic_load(rounds);
        usleep(1000);
        CHECK_EQUAL(atomic_load(rounds), before);
        CHECK(thread_group_release(&group) >= 1000000);
        while (atomic_load(rounds) == before)
            ;
    }
    kill(child, SIGKILL);
    CHECK_EQUAL(waitpid(child, NULL, 0), child);
}

static void others_run_while_one_is_stopped(void)
{
    uint64_t start_rounds = atomic_load(rounds), ran = 0;
    pid_t child = start();

    while (atomic_load(rounds) == start_rounds)
        ;
    for (int i = 0; i < 20; i++) {
        struct thread_group group;
        uint64_t before;

        CHECK_EQUAL(thread_group_stop_one(&group, child, &err), 0);
        CHECK_EQUAL(group.count, 1);
        CHECK(group.threads[0].is_stopped);
        before = atomic_load(rounds);
        usleep(5000);
        /* It may have a lock that they need. */
        ran += atomic_load(rounds) > before + 1;
        (void)thread_group_release(&group);
        usleep(1000);
    }
    CHECK(ran > 0);
    kill(child, SIGKILL);
    CHECK_EQUAL(waitpid(child, NULL, 0), child);
}

static void on_tick(int signal)
{
    (void)signal;
    atomic_fetch_add(rounds, 1);
}

/* Several timers, each of which has the next signal ready as soon as one is taken. */
static pid_t start_in_the_rain(void)
{
    struct itimerspec often = {{0, 10000}, {0, 10000}};
    pid_t child = fork();

    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < 4; i++) {
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + i};
        timer_t timer;

        signal(SIGRTMIN + i, on_tick);
        if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &often, NULL) != 0)
            _exit(1);
    }
    for (;;)
        ;
}

/* The kernel forgets that a thread is to stop when a timer's signal is on its way to it just then. */
static void signals_without_end_keep_nobody_from_stopping(void)
{
    pid_t child = start_in_the_rain();
    uint64_t longest = 0;

    for (int i = 0; i < 2500; i++) {
        struct thread_group group;
        uint64_t took;

        CHECK_EQUAL(thread_group_stop(&group, child, &err), 0);
        took = thread_group_release(&group);
        longest = took > longest ? took : longest;
    }
    CHECK(longest < STOP_LOOK_NANOSECONDS);
    kill(child, SIGKILL);
    CHECK_EQUAL(waitpid(child, NULL, 0), child);
}

static void processes_that_are_not_there_are_told(void)
{
    struct thread_group group;
    pid_t gone = fork();

    if (gone == 0)
        _exit(0);
    waitpid(gone, NULL, 0);
    CHECK_EQUAL(thread_group_stop(&group, gone, &err), -ESRCH);
    CHECK(strstr(err.text, "there is no process") != NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(nothing_runs_while_all_are_stopped),
    CHECK_CASE(others_run_while_one_is_stopped),
    CHECK_CASE(signals_without_end_keep_nobody_from_stopping),
    CHECK_CASE(processes_that_are_not_there_are_told),
};

int main(void)
{
    rounds = mmap(NULL, sizeof(*rounds), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
