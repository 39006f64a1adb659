/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/ptrace_registers.h"

#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Asks for its parent, once it is traced, and says what it heard. */
static int start(void)
{
    int pid = fork();

    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        _exit((int)syscall(SYS_getppid) == 77 ? 1 : errno == EXDEV ? 2 : 3);
    }
    return pid;
}

static void go_to_next_stop(int pid)
{
    int status;

    CHECK_EQUAL(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
    CHECK_EQUAL(waitpid(pid, &status, 0), pid);
    CHECK_EQUAL(WIFSTOPPED(status), 1);
}

static int finish(int pid)
{
    int status;

    CHECK_EQUAL(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
    CHECK_EQUAL(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status);
}

static void results_can_be_put_in_place_of_calls(void)
{
    const struct {
        int64_t result;
        int status;
    } tries[] = {{77, 1}, {-EXDEV, 2}};

    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
        int pid = start(), status;
        bool is_skipped = false;

        CHECK_EQUAL(waitpid(pid, &status, 0), pid);
        CHECK_EQUAL(ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD), 0);
        /* Whatever raise does before it returns is left alone. */
        while (!is_skipped) {
            struct __ptrace_syscall_info info;

            go_to_next_stop(pid);
            CHECK(ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) > 0);
            if (info.op != PTRACE_SYSCALL_INFO_ENTRY && info.op != PTRACE_SYSCALL_INFO_NONE)
                continue;
            if (info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_getppid) {
                CHECK_EQUAL(ptrace_registers_skip_call(pid), 0);
                go_to_next_stop(pid);
                CHECK_EQUAL(ptrace_registers_set_result(pid, tries[i].result), 0);
                is_skipped = true;
            }
        }
        CHECK_EQUAL(finish(pid), tries[i].status);
    }
}

static void threads_that_are_not_ours_are_refused(void)
{
    CHECK_EQUAL(ptrace_registers_skip_call(getpid()) < 0, 1);
    CHECK_EQUAL(ptrace_registers_set_result(getpid(), 1) < 0, 1);
}

static const struct check_case cases[] = {
    CHECK_CASE(results_can_be_put_in_place_of_calls),
    CHECK_CASE(threads_that_are_not_ours_are_refused),
};

CHECK_MAIN(cases)
