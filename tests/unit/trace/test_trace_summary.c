/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "trace/trace_summary.h"

#include "support/check.h"
#include "support/trace_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct trace_folder folder;

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
}

static void events_losses_and_calls_are_counted(void)
{
    struct trace_summary summary;

    begin();
    CHECK_EQUAL(trace_summary_read(&summary, folder.path, NULL), 0);
    CHECK_EQUAL(summary.thread_count, 2);
    CHECK_EQUAL(summary.threads[1].file->tid, 101);
    CHECK_EQUAL(summary.threads[1].counts[0], 5);
    CHECK_EQUAL(summary.threads[1].counts[1], 5);
    CHECK_EQUAL(summary.threads[1].lost_bytes, 288);
    CHECK_TEXT(summary.threads[1].err.text, "");
    CHECK_EQUAL(summary.process_count, 1);
    CHECK_EQUAL(summary.processes[0].calls.count, 1);
    CHECK_EQUAL(summary.processes[0].calls.counts[0].calls, 10);
    CHECK_EQUAL(summary.processes[0].calls.counts[0].address, 0x401100);
    CHECK_TEXT(summary.processes[0].calls.counts[0].module->path, "/nowhere/example");
    CHECK(summary.ended_ns != 0);
    trace_summary_free(&summary);
    trace_folder_deinit(&folder);
}

/* Threads of which nothing is known, and files that are no streams, do not keep others from being read. */
static void what_is_good_is_counted(void)
{
    struct trace_summary summary;

    begin();
    trace_folder_write(&folder, "100/100.1.index.gait", "?", 1);
    trace_folder_write(&folder, "100/modules.gait", "?", 1);
    CHECK_EQUAL(trace_summary_read(&summary, folder.path, NULL), 0);
    CHECK(strstr(summary.threads[0].err.text, "within its header") != NULL);
    CHECK_EQUAL(summary.threads[1].counts[0], 5);
    CHECK_EQUAL(summary.processes[0].calls.counts[0].calls, 5);
    CHECK(summary.processes[0].calls.counts[0].module == NULL);
    trace_summary_free(&summary);
    trace_folder_deinit(&folder);
}

static void without_a_manifest_there_is_no_trace(void)
{
    struct trace_summary summary;
    struct gait_error err;

    begin();
    CHECK_EQUAL(unlinkat(folder.fd, "manifest.json", 0), 0);
    CHECK_EQUAL(trace_summary_read(&summary, folder.path, &err), -ENOENT);
    CHECK(strstr(err.text, "this is no trace") != NULL);
    trace_folder_deinit(&folder);
    CHECK_EQUAL(trace_summary_read(&summary, folder.path, &err), -ENOENT);
    CHECK(strstr(err.text, "there is no such folder") != NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(events_losses_and_calls_are_counted),
    CHECK_CASE(what_is_good_is_counted),
    CHECK_CASE(without_a_manifest_there_is_no_trace),
};

CHECK_MAIN(cases)
