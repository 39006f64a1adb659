/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "inject/native_run.h"

#include "support/check.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void a_program_ends_as_it_does(void)
{
    char *const arguments[] = {"sh", "-c", "exit 7", NULL};
    char *const killed[] = {"sh", "-c", "kill -9 $$", NULL};
    struct gait_error err;
    int status = -1;

    CHECK_EQUAL(native_run(arguments, &status, &err), 0);
    CHECK_EQUAL(WEXITSTATUS(status), 7);
    CHECK_EQUAL(native_run(killed, &status, &err), 0);
    CHECK_EQUAL(WTERMSIG(status), 9);
}

static void what_is_no_program_is_told(void)
{
    char *const arguments[] = {"/nothing/here", NULL};
    struct gait_error err = {0};
    int status = -1;

    CHECK_EQUAL(native_run(arguments, &status, &err), -ENOENT);
    CHECK(strstr(err.text, "/nothing/here") != NULL);
    CHECK_EQUAL(status, -1);
}

static void only_children_are_waited_for(void)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        _exit(3);
    CHECK_EQUAL(native_run_wait(child, &status), 0);
    CHECK_EQUAL(WEXITSTATUS(status), 3);
    CHECK_EQUAL(native_run_wait(child, &status), -ECHILD);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_program_ends_as_it_does),
    CHECK_CASE(what_is_no_program_is_told),
    CHECK_CASE(only_children_are_waited_for),
};

CHECK_MAIN(cases)
