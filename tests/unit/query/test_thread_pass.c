/* SPDX-License-Identifier: MIT */
#include "query/thread_pass.h"

#include "support/check.h"
#include "support/query_lab.h"

#include <errno.h>
#include <stdatomic.h>

static struct query_lab lab;

static atomic_uint reads[2];

static int read_thread(void *context, unsigned worker, size_t thread)
{
    CHECK(worker < THREAD_PASS_WORKERS && thread < 2);
    atomic_fetch_add(&reads[thread], 1);
    return *(int *)context;
}

static void each_thread_is_read_once(void)
{
    static const bool second[] = {false, true};
    int result = 0;
    struct thread_pass pass = {.read = read_thread, .context = &result};

    query_lab_init(&lab);
    pass.trace = &lab.trace;
    reads[0] = reads[1] = 0;
    CHECK_EQUAL(thread_pass_run(&pass), 0);
    CHECK(reads[0] == 1 && reads[1] == 1);
    pass.wanted = second;
    CHECK_EQUAL(thread_pass_run(&pass), 0);
    CHECK(reads[0] == 1 && reads[1] == 2);
    result = -ENOMEM;
    CHECK_EQUAL(thread_pass_run(&pass), -ENOMEM);
    query_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(each_thread_is_read_once),
};

CHECK_MAIN(cases)
