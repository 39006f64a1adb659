/* SPDX-License-Identifier: MIT */
#include "export/export_records.h"

#include "support/check.h"
#include "support/told_system_calls.h"

static struct trace_folder folder;
static struct view_trace trace;
static char told[256];
static unsigned count;

static int take(void *context, const struct export_system_call *call)
{
    CHECK_EQUAL(call->thread, 1);
    CHECK(call->text != NULL && call->end_ns >= call->begin_ns);
    snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s%s%d ", call->name, call->has_returned ? "=" : "?",
             (int)call->result);
    count++;
    return context != NULL;
}

static void calls_of_all_threads_are_told(void)
{
    const size_t threads[] = {0, 1};
    struct export_job job = {.trace = &trace, .threads = threads, .thread_count = 2, .to_ns = UINT64_MAX};
    struct export_system_call_receiver receiver = {take, NULL};

    CHECK_EQUAL(export_system_calls_read_all(&job, &receiver, NULL), 0);
    CHECK_TEXT(told, "openat=-2 write=2 execve=-13 getppid=42 execve?0 ");
    /* Who has enough says so. */
    receiver.context = &receiver;
    count = 0;
    CHECK_EQUAL(export_system_calls_behind(&job, 0, &receiver, NULL), 1);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(export_system_calls_behind(&job, 5, &receiver, NULL), 5);
    CHECK_EQUAL(count, 1);
    /* Outside of the range there are none; the first error counts. */
    receiver.context = NULL;
    job.from_ns = UINT64_MAX;
    CHECK_EQUAL(export_system_calls_behind(&job, -3, &receiver, NULL), -3);
    CHECK_EQUAL(count, 1);
}

static void in_a_trace(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    told_system_calls_put(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    calls_of_all_threads_are_told();
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(in_a_trace),
};

CHECK_MAIN(cases)
