/* SPDX-License-Identifier: MIT */
/* Calls of the agent are tested where there is one, in test_agent_load.c. */
#define _GNU_SOURCE
#include "inject/remote.h"

#include "support/check.h"
#include "support/stopped_shell.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct tracee tracee;

static void system_calls_are_made_by_the_program(void)
{
    static const long nothing[6], strange[6] = {-1, -1, -1, -1, -1, -1};
    struct thread_registers before, after;
    struct remote_place place = {0};
    long answer = 0;

    stopped_shell_start(&tracee, "exit 3");
    CHECK_EQUAL(tracee_get_registers(&tracee, &before), 0);
    CHECK_EQUAL(remote_find_system_call(tracee.pid, &place), 0);
    CHECK_EQUAL(remote_system_call(&tracee, &place, SYS_getpid, nothing, &answer), 0);
    CHECK_EQUAL(answer, tracee.pid);
    CHECK_EQUAL(remote_system_call(&tracee, &place, SYS_close, strange, &answer), 0);
    CHECK_EQUAL(answer, -EBADF);
    CHECK_EQUAL(tracee_get_registers(&tracee, &after), 0);
    CHECK(memcmp(&before, &after, thread_registers_size_bytes()) == 0);
    tracee_detach(&tracee);
    CHECK_EQUAL(WEXITSTATUS(stopped_shell_end(&tracee)), 3);
}

static void without_a_process_there_is_no_place(void)
{
    struct remote_place place = {0};
    pid_t gone = fork();

    if (gone == 0)
        _exit(0);
    waitpid(gone, NULL, 0);
    CHECK_EQUAL(remote_find_system_call(gone, &place), -ENOENT);
    CHECK_EQUAL(place.address, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(system_calls_are_made_by_the_program),
    CHECK_CASE(without_a_process_there_is_no_place),
};

CHECK_MAIN(cases)
