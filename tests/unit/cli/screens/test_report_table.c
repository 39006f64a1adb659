/* SPDX-License-Identifier: MIT */
/* As gait report shows it, and its relatives show a recording by hooks. */
#define _GNU_SOURCE
#include "cli/screens/report_table.h"

#include "cli/command.h"
#include "cli/screens/screen.h"
#include "support/check.h"
#include "support/command_run.h"
#include "support/hooked_thread.h"

#include <stdio.h>
#include <stdlib.h>

extern const struct command command_dump_events, command_report, command_verify;

static struct trace_folder folder;

static void begin(void)
{
    trace_folder_init(&folder);
    hooked_thread_put_example(&folder);
}

static void expect_in(struct command_run run, const char *part)
{
    CHECK_EQUAL(run.status, COMMAND_DONE);
    if (strstr(run.output, part) == NULL)
        CHECK_TEXT(run.output, part);
    command_run_deinit(&run);
}

#define EXPECT(command, part, ...) expect_in(COMMAND_RUN(command, 100, folder.path, ##__VA_ARGS__), part)

static void functions_are_shown_by_total_and_by_self_time(void)
{
    begin();
    EXPECT(&command_report,
           "\n"
           "2 functions by total time, with all that is called\n"
           "     total      self  self %      calls       min       avg       p50       p99       max  function        "
           "module\n"
           "  8.000 us  6.500 us  81.2 %         13     50 ns    615 ns     50 ns  2.500 us  2.500 us  example+0x1100  "
           "example (is gone)\n"
           "  1.500 us  1.500 us  18.8 %          3    500 ns    500 ns    500 ns    500 ns    500 ns  example+0x1200  "
           "example (is gone)\n"
           "\n"
           "2 functions by self time, without what is called\n"
           "     total      self  self %      calls ");
    EXPECT(&command_report, "  enters         leaves ");
    trace_folder_deinit(&folder);
}

/* Without the columns that have no room there. */
static void terminals_that_are_narrow_have_fewer_columns(void)
{
    char *text = NULL;
    size_t size_bytes;
    struct screen screen = {.stream = open_memstream(&text, &size_bytes), .width = 80, .is_terminal = true};
    struct gait_error err = {.code = 0};
    char *words[] = {folder.path};
    const struct command_call call = {1, words, &screen, &err};

    begin();
    CHECK_EQUAL(command_report.run(&call), COMMAND_DONE);
    fclose(screen.stream);
    CHECK(strstr(text, "     total      self  self %      calls       avg  function") != NULL);
    CHECK(strstr(text, "p99") == NULL);
    free(text);
    trace_folder_deinit(&folder);
}

static void an_order_and_a_kind_may_be_asked_for(void)
{
    begin();
    EXPECT(&command_report,
           "2 functions by calls\n"
           "     total      self  self %      calls       min       avg       p50       p99       max  function        "
           "module\n"
           "  8.000 us  6.500 us  81.2 %         13 ",
           "--sort", "calls");
    EXPECT(&command_report, "1 module by longest call\n", "--by", "module", "--sort", "max");
    EXPECT(
        &command_report,
        "3 threads by total time, with all that is called\n"
        "     total      self  self %      calls       min       avg       p50       p99       max  thread\n"
        "  7.500 us  7.500 us  93.8 %          6    500 ns  1.500 us    500 ns  2.500 us  2.500 us  100/102\n"
        "    250 ns    250 ns   3.1 %          5     50 ns     50 ns     50 ns     50 ns     50 ns  100/100 example\n",
        "--by", "thread");
    trace_folder_deinit(&folder);
}

static void a_filter_leaves_other_functions_out(void)
{
    begin();
    EXPECT(&command_report,
           "1 function by self time, without what is called\n"
           "     total      self  self %      calls       min       avg       p50       p99       max  function        "
           "module\n"
           "  1.500 us  1.500 us 100.0 %          3 ",
           "--filter", "exam*!*1200", "--sort", "self");
    EXPECT(&command_report, "calls      3 of functions that match '*1200', in 3 threads\n", "--filter", "*1200");
    trace_folder_deinit(&folder);
}

static void what_was_not_seen_is_said(void)
{
    static const struct hooked_event events[] = {
        {1, EVENT_RECORD_ENTER, 0, 5000},
        {2, EVENT_RECORD_ENTER, 1, 5100},
        {2, EVENT_RECORD_ENTER, 1, 5300},
    };

    begin();
    hooked_thread_put(&folder, 103, events, 3);
    EXPECT(&command_report,
           "\nThe end of 2 calls was not seen, for the recording ended or events are missing: they lasted longer.\n"
           "The return of 1 call was not seen: it ended when the next was, or before.\n");
    trace_folder_deinit(&folder);
}

static void hooked_functions_are_lines_of_a_dump(void)
{
    begin();
    EXPECT(&command_dump_events, "100\t102\t3000000\tenter\t0\texample+0x1100\n"
                                 "100\t102\t3000500\tenter\t1\texample+0x1200\n"
                                 "100\t102\t3001000\tunwound\t1\texample+0x1200\n"
                                 "100\t102\t3002500\tleave\t0\texample+0x1100\n");
    trace_folder_deinit(&folder);
}

static void streams_of_hooked_functions_are_verified(void)
{
    begin();
    EXPECT(&command_verify, "100/102.1.index.gait  good     1 chunk, 192 bytes, 12 events, 0 bytes lost");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_are_shown_by_total_and_by_self_time),
    CHECK_CASE(terminals_that_are_narrow_have_fewer_columns),
    CHECK_CASE(an_order_and_a_kind_may_be_asked_for),
    CHECK_CASE(a_filter_leaves_other_functions_out),
    CHECK_CASE(what_was_not_seen_is_said),
    CHECK_CASE(hooked_functions_are_lines_of_a_dump),
    CHECK_CASE(streams_of_hooked_functions_are_verified),
};

CHECK_MAIN(cases)
