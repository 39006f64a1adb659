/* SPDX-License-Identifier: MIT */
/* Programs that are stopped before their first instruction, asked for system calls, and let go. */
#define _GNU_SOURCE
#include "inject/spawn.h"

#include "inject/remote.h"
#include "support/check.h"
#include "support/stopped_shell.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gait_error err;
static struct tracee tracee;

static void a_program_that_is_let_go_runs_as_it_would(void)
{
    stopped_shell_start(&tracee, "exit 7");
    CHECK(tracee.is_stopped);
    tracee_detach(&tracee);
    CHECK_EQUAL(WEXITSTATUS(stopped_shell_end(&tracee)), 7);
}

static void programs_are_found_in_the_path(void)
{
    char *arguments[] = {"true", NULL};

    CHECK_EQUAL(spawn_stopped(arguments, &tracee, &err), 0);
    tracee_detach(&tracee);
    CHECK_EQUAL(stopped_shell_end(&tracee), 0);
}

static void what_cannot_be_executed_is_told(void)
{
    char *missing[] = {"/no/such/program", NULL}, *nowhere[] = {"no-such-program", NULL}, *folder[] = {"/", NULL};

    CHECK_EQUAL(spawn_stopped(missing, &tracee, &err), -ENOENT);
    CHECK_TEXT(err.text, "cannot start /no/such/program: there is no such program");
    CHECK_EQUAL(spawn_stopped(nowhere, &tracee, &err), -ENOENT);
    CHECK_TEXT(err.text, "cannot start no-such-program: there is no such program in PATH");
    CHECK_EQUAL(spawn_stopped(folder, &tracee, &err), -EACCES);
    /* No child is left. */
    CHECK_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
}

/* The kernel ends it within execve(): there is no room for the program. */
static void a_program_that_is_ended_before_it_begins_is_told_apart(void)
{
    char *arguments[] = {"/bin/sh", NULL};
    const struct rlimit tiny = {65536, 65536};
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        bool is_right = setrlimit(RLIMIT_AS, &tiny) == 0 && spawn_stopped(arguments, &tracee, &err) == -ESRCH &&
                        tracee.killed_by == SIGSEGV && waitpid(-1, NULL, WNOHANG) == -1;

        _exit(is_right ? 0 : 1);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

/* Somebody else kills it while we are at it: whatever notices that first. */
static void one_that_is_killed_meanwhile_is_told_apart(void)
{
    stopped_shell_start(&tracee, "exit 0");
    kill(tracee.pid, SIGKILL);
    spawn_abandon(&tracee, -ESRCH);
    CHECK_EQUAL(tracee.killed_by, SIGKILL);
    stopped_shell_start(&tracee, "exit 0");
    spawn_abandon(&tracee, -ENOMEM);
    CHECK_EQUAL(tracee.killed_by, 0);
    stopped_shell_start(&tracee, "exit 0");
    kill(tracee.pid, SIGKILL);
    CHECK_EQUAL(tracee_run_until(&tracee, TRACEE_EXEC, NULL), -ESRCH);
    spawn_abandon(&tracee, -ESRCH);
    CHECK_EQUAL(tracee.killed_by, SIGKILL);
    CHECK_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_program_that_is_let_go_runs_as_it_would),
    CHECK_CASE(programs_are_found_in_the_path),
    CHECK_CASE(what_cannot_be_executed_is_told),
    CHECK_CASE(a_program_that_is_ended_before_it_begins_is_told_apart),
    CHECK_CASE(one_that_is_killed_meanwhile_is_told_apart),
};

CHECK_MAIN(cases)
