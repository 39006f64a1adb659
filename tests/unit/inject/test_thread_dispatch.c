/* SPDX-License-Identifier: MIT */
/* A thread whose system calls are dispatched is seen so from outside, and goes on as it was. */
#define _GNU_SOURCE
#include "inject/thread_dispatch.h"

#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

static struct tracee tracee;
static struct gait_error err;

/* Stops at once; with dispatch, and a byte that lets all pass, or without. */
static pid_t start(bool is_dispatched)
{
    static volatile char selector;
    int ends[2], status = 0;
    pid_t child;

    CHECK_EQUAL(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        status = is_dispatched ? prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &selector) : 0;
        (void)!write(ends[1], &status, sizeof(status));
        for (;;)
            pause();
    }
    CHECK_EQUAL(read(ends[0], &status, sizeof(status)), sizeof(status));
    close(ends[0]);
    close(ends[1]);
    if (status != 0)
        check_skip("the kernel knows no syscall user dispatch");
    return child;
}

static pid_t start_and_stop(bool is_dispatched)
{
    pid_t child = start(is_dispatched);

    CHECK_EQUAL(tracee_seize(&tracee, child, child), 0);
    CHECK_EQUAL(tracee_interrupt(&tracee), 0);
    return child;
}

static void end(pid_t child)
{
    tracee_detach(&tracee);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void a_thread_without_it_is_not_refused(void)
{
    pid_t child = start_and_stop(false);
    struct agent_dispatch before = thread_dispatch_pause(&tracee);

    CHECK_EQUAL(before.mode, 0);
    CHECK_EQUAL(thread_dispatch_check(&tracee, &err), 0);
    end(child);
}

static void it_is_seen_paused_and_resumed(void)
{
    pid_t child = start_and_stop(true);
    struct agent_dispatch before;

    if (thread_dispatch_get(&tracee).mode == 0) {
        end(child);
        check_skip("the kernel does not tell tracers of syscall user dispatch");
    }
    CHECK_EQUAL(thread_dispatch_check(&tracee, &err), -EOPNOTSUPP);
    CHECK(strstr(err.text, "PR_SET_SYSCALL_USER_DISPATCH") != NULL);
    before = thread_dispatch_pause(&tracee);
    CHECK_EQUAL(before.mode, 1);
    CHECK_EQUAL(before.size, 0);
    CHECK(before.selector != 0);
    CHECK_EQUAL(thread_dispatch_check(&tracee, &err), 0);
    thread_dispatch_resume(&tracee, &before);
    CHECK_EQUAL(thread_dispatch_get(&tracee).selector, before.selector);
    end(child);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_thread_without_it_is_not_refused),
    CHECK_CASE(it_is_seen_paused_and_resumed),
};

CHECK_MAIN(cases)
