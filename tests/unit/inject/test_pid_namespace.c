/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "inject/pid_namespace.h"

#include "support/check.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_never(void *context, pid_t pid)
{
    (void)pid;
    ++*(unsigned *)context;
    return false;
}

static bool is_it(void *context, pid_t pid)
{
    return pid == *(pid_t *)context;
}

static void we_are_in_our_own(void)
{
    unsigned count = 0;
    pid_t self = getpid();

    CHECK(pid_namespace_is_ours(self));
    CHECK_EQUAL(pid_namespace_inner_tid(self, self), self);
    CHECK_EQUAL(pid_namespace_outer_tid(self, self), self);
    CHECK_EQUAL(pid_namespace_inner_tid(self, 0), 0);
    CHECK_EQUAL(pid_namespace_find_process(self, is_it, &self), self);
    CHECK_EQUAL(pid_namespace_find_process(self, is_never, &count), 0);
    CHECK(count >= 1);
}

/* A process that calls itself 1. Its pid with us comes through the pipe; 0: we may not have one. */
static void be_first(int out)
{
    pid_t child;

    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
        _exit(77);
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
        _exit(0);
    }
    if (write(out, &child, sizeof(child)) != sizeof(child))
        _exit(1);
    pause();
    _exit(0);
}

static void others_have_other_numbers(void)
{
    int pipes[2], status;
    pid_t parent, inside = 0;

    CHECK_EQUAL(pipe(pipes), 0);
    parent = fork();
    if (parent == 0)
        be_first(pipes[1]);
    close(pipes[1]);
    if (read(pipes[0], &inside, sizeof(inside)) == sizeof(inside)) {
        CHECK(!pid_namespace_is_ours(inside));
        CHECK_EQUAL(pid_namespace_inner_tid(inside, inside), 1);
        CHECK_EQUAL(pid_namespace_outer_tid(inside, 1), inside);
        CHECK_EQUAL(pid_namespace_find_process(1, is_it, &inside), inside);
    } else {
        puts("no pid namespace to be had here: not tried");
    }
    kill(parent, SIGKILL);
    CHECK_EQUAL(waitpid(parent, &status, 0), parent);
    close(pipes[0]);
}

static const struct check_case cases[] = {
    CHECK_CASE(we_are_in_our_own),
    CHECK_CASE(others_have_other_numbers),
};

CHECK_MAIN(cases)
