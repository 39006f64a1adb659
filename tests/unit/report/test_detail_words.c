/* SPDX-License-Identifier: MIT */
#include "report/report_words.h"

#include "support/check.h"
#include "support/trace_folder.h"
#include "symbolize/function_names.h"
#include "view/trace_report.h"

static struct trace_folder folder;
static struct view_trace trace;
static struct trace_report report;
static struct function_names names;
static struct report_details details;
static struct report_detail detail;

static void begin(void)
{
    const struct trace_report_options options = {.by = CALL_GROUP_FUNCTION};

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(trace_report_read(&report, &trace, &options, NULL), 0);
    function_names_init(&names);
    CHECK_EQUAL(report_details_init(&details, &report, &names), 0);
}

static void end(void)
{
    report_details_deinit(&details);
    function_names_deinit(&names);
    trace_report_free(&report);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void the_last_call_is_said_in_words(void)
{
    const struct detail_count returned = {
        .address = 0x401200,
        .calls = 2,
        .returns = 2,
        .last_time = 5000,
        .last_arguments = {1, 2, 0xabc},
        .last_value = 0x55,
    };
    struct detail_count running = returned;

    running.returns = 0;
    begin();
    report_detail_write(&details, 0, &returned, &detail);
    CHECK_TEXT(detail.name, "example+0x1200");
    CHECK_TEXT(detail.arguments, "0x1, 0x2, 0xabc, ...");
    CHECK_TEXT(detail.result, "0x55");
    report_detail_write(&details, 0, &running, &detail);
    CHECK_TEXT(detail.result, "");
    end();
}

static void a_probe_without_arguments_has_no_words(void)
{
    const struct probe_count count = {.times = 1};
    char text[DETAIL_TEXT_BYTES];

    report_probe_write_arguments(&count, text);
    CHECK_TEXT(text, "");
}

static const struct check_case cases[] = {
    CHECK_CASE(the_last_call_is_said_in_words),
    CHECK_CASE(a_probe_without_arguments_has_no_words),
};

CHECK_MAIN(cases)
