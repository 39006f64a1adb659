/* SPDX-License-Identifier: MIT */
/* As gait report shows it. */
#include "cli/screens/report_sections.h"

#include "cli/command.h"
#include "ring/detail_record.h"
#include "support/check.h"
#include "support/command_run.h"
#include "support/trace_folder.h"

extern const struct command command_report, command_verify;

static struct trace_folder folder;

static void put_call(struct trace_bytes *bytes, uint64_t function, uint64_t from, uint64_t ticks)
{
    struct detail_enter enter = {
        .record = {.size_bytes = sizeof(enter), .kind = DETAIL_ENTER, .time = from, .function = function},
        .arguments = {1, 2, 0xabc},
    };
    struct detail_leave leave = {
        .record = {.size_bytes = sizeof(leave), .kind = DETAIL_LEAVE, .time = from + ticks, .function = function},
        .entered_time = from,
        .value = 0x55,
    };

    trace_bytes_put(bytes, &enter, sizeof(enter));
    if (ticks != 0)
        trace_bytes_put(bytes, &leave, sizeof(leave));
}

static void expect(const struct command *command, const char *part)
{
    struct command_run run = COMMAND_RUN(command, 100, folder.path);

    CHECK_EQUAL(run.status, COMMAND_DONE);
    if (strstr(run.output, part) == NULL)
        CHECK_TEXT(run.output, part);
    command_run_deinit(&run);
}

static void functions_are_shown_with_their_times(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    put_call(&bytes, 0x401100, 2000, 500);
    put_call(&bytes, 0x401100, 3000, 1500);
    put_call(&bytes, 0x401200, 5000, 2500000);
    put_call(&bytes, 0x999999, 6000, 0);
    trace_folder_put_stream(
        &folder,
        &(struct trace_stream_plan){.name = "100/100.1.detail.gait",
                                    .header = {.kind = TRACE_STREAM_DETAIL, .pid = 100, .tid = 100, .generation = 1},
                                    .bytes = &bytes});
    expect(&command_report,
           "         calls    shortest     average     longest  details of process 100; with the last arguments\n"
           "             1    2.500 ms    2.500 ms    2.500 ms  example+0x1200(0x1, 0x2, 0xabc, ...) = 0x55\n"
           "             2      500 ns    1.000 us    1.500 us  example+0x1100(0x1, 0x2, 0xabc, ...) = 0x55\n"
           "             1           -           -           -  0x999999(0x1, 0x2, 0xabc, ...)\n");
    expect(&command_verify, "100/100.1.detail.gait  good     1 chunk, 528 bytes, 7 records, 0 bytes lost");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_are_shown_with_their_times),
};

CHECK_MAIN(cases)
