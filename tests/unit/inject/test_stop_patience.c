/* SPDX-License-Identifier: MIT */
/*
 * Who has no CPU is waited for, who is in a wait that cannot be interrupted is not.
 *
 * ThreadSanitizer's own thread is one more to stop, and its vfork is fork.
 * configurations: debug-* asan-*
 */
#define _GNU_SOURCE
#include "inject/stop_patience.h"

#include "inject/thread_group.h"
#include "support/check.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct gait_error err;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Busy for good, on the first CPU that there is, as important as that. */
static pid_t start_busy(int niceness)
{
    cpu_set_t cpus, one;
    pid_t child = fork();
    int cpu = 0;

    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sched_getaffinity(0, sizeof(cpus), &cpus);
    while (!CPU_ISSET(cpu, &cpus))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0 || setpriority(PRIO_PROCESS, 0, niceness) != 0)
        _exit(77);
    for (;;)
        ;
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void who_waits_for_a_cpu_is_waited_for(void)
{
    pid_t starved = start_busy(19), greedy = start_busy(-10);
    struct thread_group group;
    uint64_t began = now_ns(), longest = 0;

    while (longest < 2 * STOP_LOOK_NANOSECONDS && now_ns() - began < STOP_MOST_NANOSECONDS / 3 &&
           waitpid(greedy, NULL, WNOHANG) == 0) {
        uint64_t asked;

        /* It comes to run, and has had its share for a long time then. */
        usleep(400000);
        asked = now_ns();
        CHECK_EQUAL(thread_group_stop(&group, starved, &err), 0);
        longest = now_ns() - asked > longest ? now_ns() - asked : longest;
        (void)thread_group_release(&group);
    }
    end(greedy);
    end(starved);
    /* Who may not be that greedy, or has a scheduler which is more just, has seen nothing. */
    if (longest < 2 * STOP_LOOK_NANOSECONDS)
        fprintf(stderr, "nobody had to wait: %llu ms\n", (unsigned long long)longest / 1000000);
}

/* A parent that waits for its vfork is in such a wait. */
static pid_t start_uninterruptible(void)
{
    pid_t child = fork();

    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (vfork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    _exit(0);
}

static void who_cannot_be_interrupted_is_told(void)
{
    pid_t child = start_uninterruptible();
    struct thread_group group;
    uint64_t began;

    while (stop_patience_state_of(child, child) != 'D')
        usleep(1000);
    began = now_ns();
    CHECK_EQUAL(thread_group_stop(&group, child, &err), -ETIMEDOUT);
    CHECK(strstr(err.text, "cannot be interrupted") != NULL);
    CHECK(now_ns() - began >= 2 * STOP_LOOK_NANOSECONDS);
    end(child);
}

static void states_are_the_kernels(void)
{
    CHECK_EQUAL(stop_patience_state_of(getpid(), getpid()), 'R');
    CHECK_EQUAL(stop_patience_state_of(getpid(), 1 << 30), 'X');
}

static const struct check_case cases[] = {
    CHECK_CASE(states_are_the_kernels),
    CHECK_CASE(who_waits_for_a_cpu_is_waited_for),
    CHECK_CASE(who_cannot_be_interrupted_is_told),
};

int main(void)
{
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
