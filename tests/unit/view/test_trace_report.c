/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "view/trace_report.h"

#include "support/check.h"
#include "support/hooked_thread.h"
#include "trace/manifest.h"

#include <string.h>
#include <unistd.h>

static struct trace_folder folder;
static struct view_trace trace;
static struct trace_report report;

static void begin(void)
{
    trace_folder_init(&folder);
    hooked_thread_put_example(&folder);
}

static void read_with(enum call_group_kind by, unsigned workers)
{
    const struct trace_report_options options = {.by = by, .worker_count = workers};

    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(trace_report_read(&report, &trace, &options, NULL), 0);
}

static void end(void)
{
    trace_report_free(&report);
    view_trace_close(&trace);
}

/* The group of a function, whoever was the first to see it. */
static const struct call_statistics *statistics_of(const char *name)
{
    for (uint32_t i = 0; i < report.groups.count; i++)
        if (strcmp(call_groups_function(&report.groups, i)->name, name) == 0)
            return &report.statistics.all[i];
    return NULL;
}

static void events_losses_and_calls_are_counted(void)
{
    begin();
    read_with(CALL_GROUP_FUNCTION, 1);
    CHECK_EQUAL(trace.thread_count, 3);
    CHECK_EQUAL(report.threads[1].counts[0], 5);
    CHECK_EQUAL(report.threads[1].counts[1], 5);
    CHECK_EQUAL(report.threads[1].lost_bytes, 288);
    CHECK_EQUAL(report.threads[1].loss_count, 4);
    CHECK_EQUAL(report.threads[2].counts[5], 6);
    CHECK_EQUAL(report.threads[2].counts[6], 6);
    CHECK_EQUAL(trace_report_lost_bytes(&report), 288);
    CHECK_EQUAL(report.all.calls, 16);
    CHECK_EQUAL(report.groups.count, 2);
    CHECK_EQUAL(statistics_of("example+0x1100")->calls, 13);
    CHECK_EQUAL(statistics_of("example+0x1100")->total, 10 * 50 + 7500);
    CHECK_EQUAL(statistics_of("example+0x1200")->total, 1500);
    CHECK_EQUAL(statistics_of("example+0x1200")->unwound, 1);
    CHECK_EQUAL(report.all.self, 10 * 50 + 7500);
    CHECK(report.has_times && !report.has_guesses);
    end();
    trace_folder_deinit(&folder);
}

/* However many read at once. */
static void numbers_do_not_depend_on_who_counts(void)
{
    struct hooked_event events[200];

    begin();
    for (uint32_t tid = 200; tid < 240; tid++) {
        for (uint32_t i = 0; i < 200; i += 2) {
            events[i] = (struct hooked_event){1 + i / 2 % 2, EVENT_RECORD_ENTER, 0, 5000 + 1000 * (uint64_t)i};
            events[i + 1] =
                (struct hooked_event){1 + i / 2 % 2, EVENT_RECORD_LEAVE, 0, 5000 + 1000 * (uint64_t)i + tid};
        }
        hooked_thread_put(&folder, tid, events, 200);
    }
    for (unsigned workers = 1; workers <= 8; workers += workers) {
        read_with(CALL_GROUP_FUNCTION, workers);
        CHECK_EQUAL(trace.thread_count, 43);
        CHECK_EQUAL(statistics_of("example+0x1100")->calls, 13 + 40 * 50);
        CHECK_EQUAL(statistics_of("example+0x1200")->calls, 3 + 40 * 50);
        CHECK_EQUAL(statistics_of("example+0x1200")->self, 1500 + 50 * (200 + 239) * 20);
        CHECK_EQUAL(statistics_of("example+0x1200")->shortest, 200);
        end();
    }
    read_with(CALL_GROUP_THREAD, 0);
    CHECK_EQUAL(report.statistics.count, 43);
    CHECK_EQUAL(report.statistics.all[3].total, 200 * 100);
    end();
    trace_folder_deinit(&folder);
}

/* Threads of which nothing is known, and files that are no streams, do not keep others from being read. */
static void what_is_good_is_counted(void)
{
    begin();
    trace_folder_write(&folder, "100/100.1.index.gait", "?", 1);
    trace_folder_write(&folder, "100/modules.gait", "?", 1);
    read_with(CALL_GROUP_FUNCTION, 2);
    CHECK(strstr(report.threads[0].err.text, "it is no stream of a trace") != NULL);
    CHECK_EQUAL(report.threads[1].counts[0], 5);
    CHECK_EQUAL(statistics_of("0x401100")->calls, 8);
    end();
    trace_folder_deinit(&folder);
}

/* Calls have a number, but nobody knows when they ended. */
static void without_returns_there_are_no_times(void)
{
    struct manifest manifest;
    struct trace_bytes bytes = {.size_bytes = 0};
    struct trace_stream_plan plan = {
        .name = "100/100.1.index.gait",
        .header = {.kind = TRACE_STREAM_INDEX, .pid = 100, .tid = 100, .generation = 1, .space = 1, .events = 1},
        .bytes = &bytes};

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(manifest_read(folder.fd, &manifest, NULL), 0);
    manifest.events = GAIT_EVENT_CALL;
    CHECK_EQUAL(manifest_write(&manifest, folder.fd, NULL), 0);
    manifest_free(&manifest);
    trace_bytes_put_wide_header(&bytes, 0, EVENT_RECORD_CALL);
    trace_bytes_put_long(&bytes, 0x1000);
    CHECK_EQUAL(unlinkat(folder.fd, "100/100.1.index.gait", 0), 0);
    CHECK_EQUAL(unlinkat(folder.fd, "100/101.1.index.gait", 0), 0);
    trace_folder_put_stream(&folder, &plan);
    plan.name = "100/101.1.index.gait";
    plan.header.tid = 101;
    trace_folder_put_stream(&folder, &plan);
    read_with(CALL_GROUP_FUNCTION, 0);
    CHECK(!report.has_times && !report.has_guesses);
    CHECK_EQUAL(report.all.calls, 2);
    end();
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(events_losses_and_calls_are_counted),
    CHECK_CASE(numbers_do_not_depend_on_who_counts),
    CHECK_CASE(what_is_good_is_counted),
    CHECK_CASE(without_returns_there_are_no_times),
};

CHECK_MAIN(cases)
