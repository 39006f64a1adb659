/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/ptrace_thread.h"

#include "support/check.h"

#include <unistd.h>

static void threads_come_and_go(void)
{
    struct ptrace_threads threads = {0};
    struct ptrace_thread *own = ptrace_threads_add(&threads, getpid());

    CHECK_EQUAL(own->pid, getpid());
    CHECK_EQUAL(ptrace_threads_add(&threads, 0x7ffffff0)->pid, 0x7ffffff0);
    CHECK_EQUAL(ptrace_threads_add(&threads, getpid()) == own, 1);
    CHECK_EQUAL(threads.count, 2);
    CHECK_EQUAL(ptrace_threads_find(&threads, 5) == NULL, 1);
    own->resume_at_ns = 1;
    threads.held_count = 1;
    ptrace_threads_remove(&threads, own);
    CHECK_EQUAL(threads.count, 1);
    CHECK_EQUAL(threads.held_count, 0);
    CHECK_EQUAL(ptrace_threads_find(&threads, getpid()) == NULL, 1);
    ptrace_threads_clear(&threads);
    CHECK_EQUAL(threads.count, 0);
}

static const struct check_case cases[] = {CHECK_CASE(threads_come_and_go)};

CHECK_MAIN(cases)
