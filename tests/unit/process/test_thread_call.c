/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "process/thread_call.h"

#include "support/check.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int sleeper_tid;
static int pipe_ends[2];

static int parse(const char *line, struct thread_call *call)
{
    return thread_call_parse(line, strlen(line), call);
}

static void lines_are_understood_or_refused(void)
{
    struct thread_call call;

    CHECK_EQUAL(parse("running\n", &call), -EAGAIN);
    CHECK_EQUAL(parse("-1 0x7ffc 0x4000\n", &call), 0);
    CHECK_EQUAL(call.number, -1);
    CHECK_EQUAL(call.sp, 0x7ffc);
    CHECK_EQUAL(parse("34 0x0 0x1 0x2 0x3 0x4 0xffffffffffffffff 0x7ffc 0x4000\n", &call), 0);
    CHECK_EQUAL(call.number, 34);
    CHECK_EQUAL(call.arguments[1], 1);
    CHECK_EQUAL(call.arguments[5], UINT64_MAX);
    CHECK_EQUAL(call.pc, 0x4000);
    CHECK_EQUAL(parse("", &call), -EIO);
    CHECK_EQUAL(parse("34 0x0\n", &call), -EIO);
    CHECK_EQUAL(parse("34 x 0x1 0x2 0x3 0x4 0x5 0x7ffc 0x4000\n", &call), -EIO);
    CHECK_EQUAL(parse("34 0x0 0x1 0x2 0x3 0x4 0x5 0x7ffc 0x4000 0x5\n", &call), -EIO);
}

static void *sleep_in_read(void *unused)
{
    char byte;

    (void)unused;
    sleeper_tid = (int)syscall(SYS_gettid);
    CHECK_EQUAL(read(pipe_ends[0], &byte, 1), 1);
    return NULL;
}

static void a_thread_that_sleeps_says_in_what(void)
{
    struct thread_call call = {.number = 0};
    pthread_t thread;
    int result = -EAGAIN;

    CHECK_EQUAL(pipe(pipe_ends), 0);
    pthread_create(&thread, NULL, sleep_in_read, NULL);
    for (unsigned i = 0; i < 1000 && (result != 0 || call.arguments[0] != (uint64_t)pipe_ends[0]); i++) {
        usleep(1000);
        result = sleeper_tid == 0 ? -EAGAIN : thread_call_read(sleeper_tid, &call);
    }
    /* Containers may hide it. */
    if (result != -ESRCH) {
        CHECK_EQUAL(result, 0);
        CHECK_EQUAL(call.number, SYS_read);
        CHECK_EQUAL(call.arguments[0], (uint64_t)pipe_ends[0]);
        CHECK(call.sp != 0);
    }
    CHECK_EQUAL(thread_call_read(1 << 30, &call), -ESRCH);
    CHECK_EQUAL(write(pipe_ends[1], "x", 1), 1);
    pthread_join(thread, NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(lines_are_understood_or_refused),
    CHECK_CASE(a_thread_that_sleeps_says_in_what),
};

CHECK_MAIN(cases)
