/* SPDX-License-Identifier: MIT */
#include "query/thread_pass.h"

#include "support/check.h"
#include "support/query_text.h"
#include "view/view_trace.h"

#include <errno.h>
#include <stdatomic.h>

static struct trace_folder folder;
static struct view_trace trace;
static struct query_source source;

static void begin(void)
{
    trace_folder_init(&folder);
    query_text_put_hooked(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(query_source_init(&source, &trace), 0);
}

static void end(void)
{
    query_source_deinit(&source);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

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

    begin();
    pass.trace = &trace;
    reads[0] = reads[1] = 0;
    CHECK_EQUAL(thread_pass_run(&pass), 0);
    CHECK(reads[0] == 1 && reads[1] == 1);
    pass.wanted = second;
    CHECK_EQUAL(thread_pass_run(&pass), 0);
    CHECK(reads[0] == 1 && reads[1] == 2);
    result = -ENOMEM;
    CHECK_EQUAL(thread_pass_run(&pass), -ENOMEM);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(each_thread_is_read_once),
};

CHECK_MAIN(cases)
