/* SPDX-License-Identifier: MIT */
#include "report/report_words.h"

#include "ring/left_log.h"
#include "support/check.h"
#include "support/trace_folder.h"
#include "trace/manifest.h"
#include "view/trace_report.h"

static struct trace_folder folder;

static void what_the_manifest_does_not_know_is_not_listed(void)
{
    struct view_trace trace;
    struct view_process other = {.pid = 100, .image = 2};

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK(report_listed_process(&trace, &trace.processes[0]) == &trace.manifest.processes[0]);
    CHECK(report_listed_process(&trace, &other) == NULL);
    CHECK(report_listed_thread(&trace, &trace.threads[1]) == &trace.manifest.processes[0].threads[1]);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void how_long_and_how_it_ended_is_read(void)
{
    const struct trace_report_options options = {.by = CALL_GROUP_FUNCTION};
    struct view_trace trace;
    struct trace_report report;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(trace_report_read(&report, &trace, &options, NULL), 0);
    CHECK_EQUAL(report_duration_ns(&report), 2500000000);
    CHECK(!report_has_crash(&report, 0));
    trace.manifest.processes[0].status = 11;
    CHECK(report_has_crash(&report, 0));
    trace_report_free(&report);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void a_status_is_said_in_words(void)
{
    char text[64];

    CHECK_TEXT(report_status_write(-1, text, sizeof(text)), "");
    CHECK_TEXT(report_status_write(3 << 8, text, sizeof(text)), "exit status 3");
    CHECK_TEXT(report_status_write(9, text, sizeof(text)), "killed by signal 9 (SIGKILL)");
}

static void every_reason_has_words(void)
{
    CHECK_TEXT(report_left_explain(RING_LEFT_MEMORY), "the process had no memory left to translate code");
    CHECK_TEXT(report_left_explain(0), "for a reason that this gait does not know");
}

static const struct check_case cases[] = {
    CHECK_CASE(what_the_manifest_does_not_know_is_not_listed),
    CHECK_CASE(how_long_and_how_it_ended_is_read),
    CHECK_CASE(a_status_is_said_in_words),
    CHECK_CASE(every_reason_has_words),
};

CHECK_MAIN(cases)
