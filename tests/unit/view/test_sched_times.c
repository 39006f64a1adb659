/* SPDX-License-Identifier: MIT */
#include "view/sched_times.h"

#include "support/check.h"
#include "support/kernel_trace.h"

#include <errno.h>

static struct trace_folder folder;
static struct view_trace trace;

/* From 1100 to 1200 and from 1300 to 1400 thread 100 runs; at 1250 it is woken; in the end it is pushed aside. */
static void threads_run_wait_and_are_blocked(void)
{
    struct sched_times times;
    struct gait_error err;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    kernel_trace_put_run(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, &err), 0);
    CHECK_EQUAL(sched_times_read(&times, &trace), 0);
    /* Who only wakes others is not told of. */
    CHECK_EQUAL(times.count, 1);
    CHECK_EQUAL(times.threads[0].tid, 100);
    CHECK_TEXT(times.threads[0].name, "early");
    CHECK_EQUAL(times.threads[0].ticks[SCHED_RUNNING], 200);
    CHECK_EQUAL(times.threads[0].ticks[SCHED_BLOCKED], 50);
    CHECK_EQUAL(times.threads[0].ticks[SCHED_WAITING], 50);
    CHECK_EQUAL(times.threads[0].run_count, 2);
    CHECK_EQUAL(times.threads[0].pushed_count, 1);
    /* The profile's are none of them. */
    CHECK_EQUAL(times.event_count, 5);
    sched_times_free(&times);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void other_recordings_say_nothing_of_it(void)
{
    struct sched_times times;
    struct gait_error err;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, &err), 0);
    CHECK_EQUAL(sched_times_read(&times, &trace), -ENOENT);
    view_trace_close(&trace);
    kernel_trace_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, &err), 0);
    CHECK_EQUAL(sched_times_read(&times, &trace), -ENOENT);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(threads_run_wait_and_are_blocked),
    CHECK_CASE(other_recordings_say_nothing_of_it),
};

CHECK_MAIN(cases)
