/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "record/thread_numbers.h"

#include "support/check.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void numbers_of_this_namespace_stay(void)
{
    struct thread_numbers numbers = {.count = 0};

    thread_numbers_add_process(&numbers, getpid());
    CHECK_EQUAL(numbers.count, 0);
    CHECK_EQUAL(thread_numbers_outer(&numbers, getpid(), 1), 1);
    thread_numbers_deinit(&numbers);
}

/* In a process of its own, whose children are elsewhere from then on. */
static void look_at_child_elsewhere(void)
{
    struct thread_numbers numbers = {.count = 0};
    pid_t child;

    if (unshare(CLONE_NEWPID) != 0)
        _exit(77);
    child = fork();
    if (child == 0)
        for (;;)
            pause();
    thread_numbers_add_process(&numbers, child);
    CHECK_EQUAL(numbers.count, 1);
    CHECK_EQUAL(thread_numbers_outer(&numbers, child, 1), (uint32_t)child);
    CHECK_EQUAL(thread_numbers_outer(&numbers, child, 4711), 4711);
    kill(child, SIGKILL);
    CHECK_EQUAL(waitpid(child, NULL, 0), child);
    /* It is known although it is gone. */
    CHECK_EQUAL(thread_numbers_outer(&numbers, child, 1), (uint32_t)child);
    CHECK_EQUAL(thread_numbers_outer(&numbers, getpid(), 1), 1);
    thread_numbers_deinit(&numbers);
    _exit(check_failures == 0 ? 0 : 1);
}

static void those_of_another_are_translated(void)
{
    int status = -1;
    pid_t middle = fork();

    if (middle == 0)
        look_at_child_elsewhere();
    CHECK_EQUAL(waitpid(middle, &status, 0), middle);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        check_skip("PID namespaces may not be made here");
    CHECK_EQUAL(status, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(numbers_of_this_namespace_stay),
    CHECK_CASE(those_of_another_are_translated),
};

CHECK_MAIN(cases)
