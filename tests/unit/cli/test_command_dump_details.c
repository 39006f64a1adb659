/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "ring/detail_record.h"
#include "support/check.h"
#include "support/command_run.h"
#include "support/trace_folder.h"

extern const struct command command_dump_details;

static struct trace_folder folder;

static void put_details(void)
{
    struct detail_enter enter = {
        .record = {.size_bytes = sizeof(enter) + 8, .kind = DETAIL_ENTER, .time = 2000, .function = 0x401100},
        .arguments = {1, 2, 3, 4, 5, 0xabc},
        .stack_bytes = 3,
    };
    struct detail_leave leave = {
        .record = {.size_bytes = sizeof(leave), .kind = DETAIL_LEAVE, .time = 2500, .function = 0x401100},
        .entered_time = 2000,
        .value = 0x55,
    };
    struct trace_bytes bytes = {.size_bytes = 0};

    trace_bytes_put(&bytes, &enter, sizeof(enter));
    trace_bytes_put_long(&bytes, 0x0302ff);
    trace_bytes_put(&bytes, &leave, sizeof(leave));
    leave.record.kind = DETAIL_LEFT;
    leave.record.depth = 1;
    leave.record.function = 0x999;
    trace_bytes_put(&bytes, &leave, sizeof(leave));
    trace_folder_put_stream(
        &folder,
        &(struct trace_stream_plan){.name = "100/100.1.detail.gait",
                                    .header = {.kind = TRACE_STREAM_DETAIL, .pid = 100, .tid = 100, .generation = 1},
                                    .bytes = &bytes});
}

static void a_line_for_each_record(void)
{
    struct command_run run;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    put_details();
    run = COMMAND_RUN(&command_dump_details, 100, folder.path);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_TEXT(run.output, "100\t100\t2000\tenter\t0\texample+0x1100\t0x1\t0x2\t0x3\t0x4\t0x5\t0xabc\tff0203\n"
                           "100\t100\t2500\tleave\t0\texample+0x1100\t500\t0x55\n"
                           "100\t100\t2500\tleft\t1\t0x999\t500\n");
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_line_for_each_record),
};

CHECK_MAIN(cases)
