/* SPDX-License-Identifier: MIT */
/* Programs that are stopped before their first instruction, asked for system calls, and let go. */
#define _GNU_SOURCE
#include "inject/spawn.h"

#include "inject/remote.h"
#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gait_error err;
static struct tracee tracee;

/* Starts a shell with a script. */
static void start(char *script)
{
    char *arguments[] = {"/bin/sh", "-c", script, NULL};

    CHECK_EQUAL(spawn_stopped(arguments, &tracee, &err), 0);
}

static int status_at_end(void)
{
    int status = -1;

    CHECK_EQUAL(waitpid(tracee.pid, &status, 0), tracee.pid);
    return status;
}

static void a_program_that_is_let_go_runs_as_it_would(void)
{
    start("exit 7");
    CHECK(tracee.is_stopped);
    tracee_detach(&tracee);
    CHECK_EQUAL(WEXITSTATUS(status_at_end()), 7);
}

static void programs_are_found_in_the_path(void)
{
    char *arguments[] = {"true", NULL};

    CHECK_EQUAL(spawn_stopped(arguments, &tracee, &err), 0);
    tracee_detach(&tracee);
    CHECK_EQUAL(status_at_end(), 0);
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

static const struct check_case cases[] = {
    CHECK_CASE(a_program_that_is_let_go_runs_as_it_would),
    CHECK_CASE(programs_are_found_in_the_path),
    CHECK_CASE(what_cannot_be_executed_is_told),
};

CHECK_MAIN(cases)
