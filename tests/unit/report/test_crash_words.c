/* SPDX-License-Identifier: MIT */
#include "report/report_words.h"

#include "support/check.h"
#include "support/trace_folder.h"
#include "symbolize/function_names.h"
#include "view/trace_report.h"

static void registers_have_the_names_of_their_machine(void)
{
    const struct crash_signal known = {.machine = 62, .register_count = 18};
    const struct crash_signal unknown = {.machine = 1, .register_count = 18};

    CHECK_TEXT(report_register_name(&known, 0), "rax");
    CHECK_TEXT(report_register_name(&known, 16), "pc");
    CHECK_TEXT(report_register_name(&known, 17), "flags");
    CHECK_TEXT(report_register_name(&unknown, 0), "?");
    CHECK_TEXT(report_register_name(&unknown, 16), "pc");
}

static void places_have_names_where_there_is_a_module(void)
{
    const struct trace_report_options options = {.by = CALL_GROUP_FUNCTION};
    struct trace_folder folder;
    struct view_trace trace;
    struct trace_report report;
    struct function_names names;
    struct report_place place = {&report, 0, &names};
    char text[64];

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(trace_report_read(&report, &trace, &options, NULL), 0);
    function_names_init(&names);
    CHECK_TEXT(report_place_write(&place, 0x401104, 5000, 5000, text, sizeof(text)), "example+0x1104");
    CHECK_TEXT(report_place_write(&place, 7, 5000, 5000, text, sizeof(text)), "0x7");
    function_names_deinit(&names);
    trace_report_free(&report);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(registers_have_the_names_of_their_machine),
    CHECK_CASE(places_have_names_where_there_is_a_module),
};

CHECK_MAIN(cases)
