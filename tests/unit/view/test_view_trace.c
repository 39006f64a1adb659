/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "view/view_trace.h"

#include "support/check.h"
#include "support/trace_folder.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static struct trace_folder folder;
static struct view_trace trace;

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
}

static void processes_and_threads_are_known(void)
{
    begin();
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(trace.process_count, 1);
    CHECK_EQUAL(trace.processes[0].pid, 100);
    CHECK_TEXT(trace.processes[0].command, "./example --fast");
    CHECK_EQUAL(trace.processes[0].modules.count, 1);
    CHECK_EQUAL(trace.processes[0].blocks.count, 3);
    CHECK_EQUAL(trace.thread_count, 2);
    CHECK_EQUAL(trace.threads[1].tid, 101);
    CHECK_TEXT(trace.threads[1].name, "worker");
    CHECK(view_trace_process_of(&trace, 1) == &trace.processes[0]);
    CHECK_EQUAL(view_trace_ns(&trace, 1500), 500);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

/* What a process is without, others need not be. */
static void what_cannot_be_read_is_left_out(void)
{
    begin();
    trace_folder_write(&folder, "100/modules.gait", "?", 1);
    trace_folder_write(&folder, "100/blocks.gait", "?", 1);
    trace_folder_write(&folder, "100/notes.txt", "?", 1);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(trace.processes[0].modules.count, 0);
    CHECK_EQUAL(trace.processes[0].blocks.count, 0);
    CHECK_EQUAL(trace.thread_count, 2);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void what_is_no_trace_is_said_to_be_none(void)
{
    struct gait_error err;

    begin();
    CHECK_EQUAL(unlinkat(folder.fd, "manifest.json", 0), 0);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, &err), -ENOENT);
    CHECK(strstr(err.text, "this is no trace") != NULL);
    trace_folder_deinit(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, &err), -ENOENT);
}

static const struct check_case cases[] = {
    CHECK_CASE(processes_and_threads_are_known),
    CHECK_CASE(what_cannot_be_read_is_left_out),
    CHECK_CASE(what_is_no_trace_is_said_to_be_none),
};

CHECK_MAIN(cases)
