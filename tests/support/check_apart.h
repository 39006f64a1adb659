/* SPDX-License-Identifier: MIT */
/*
 * Cases that each run in a process of their own: what a process has one of is new for each, and one that a signal ends
 * is a failure like another. The process is a fork of the test program.
 */
#ifndef GAIT_TESTS_CHECK_APART_H
#define GAIT_TESTS_CHECK_APART_H

#include "support/check.h"

#include <sys/wait.h>
#include <unistd.h>

/* Runs the function in a child, whose failed checks it says by its status; returns what waitpid() says of it. */
static inline int check_in_child(void (*run)(void))
{
    int status = -1;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        check_failures = 0;
        run();
        fflush(stdout);
        _exit(check_failures == 0 ? 0 : 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return status;
}

static inline int check_run_apart(const struct check_case *cases, size_t count)
{
    int failed_cases = 0;

    for (size_t i = 0; i < count; i++) {
        int status = check_in_child(cases[i].run);

        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
            return 77;
        if (status == 0)
            continue;
        failed_cases++;
        if (WIFSIGNALED(status))
            printf("ended by signal %d\n", WTERMSIG(status));
        printf("FAILED: %s\n", cases[i].behaviour);
    }
    printf("%zu cases, %d failed\n", count, failed_cases);
    return failed_cases == 0 ? 0 : 1;
}

#define CHECK_APART_MAIN(cases)                                                                                        \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        return check_run_apart(cases, sizeof(cases) / sizeof((cases)[0]));                                             \
    }

#endif
