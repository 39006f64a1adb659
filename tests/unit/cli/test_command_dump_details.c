/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "ring/detail_record.h"
#include "ring/detail_value.h"
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

static void put_others(void)
{
    struct detail_system_call call = {
        .record = {.size_bytes = sizeof(call) + 16, .kind = DETAIL_SYSTEM_CALL, .time = 3000, .function = 257},
        .entered_time = 2900,
        .result = -2,
        .arguments = {0xffffff9c, 0x5000, 0, 0, 5, 6},
        .flags = DETAIL_SYSTEM_CALL_RESTARTED,
        .values_bytes = 9,
    };
    struct detail_system_call_enter enter = {
        .record = {.size_bytes = sizeof(enter), .kind = DETAIL_SYSTEM_CALL_ENTER, .time = 3100, .function = 231},
        .arguments = {1},
    };
    struct detail_probe probe = {
        .record = {.size_bytes = sizeof(probe) + 8, .kind = DETAIL_PROBE, .time = 3200, .function = 0x401100},
        .probe = 4,
        .values_bytes = 5,
    };
    const uint8_t string[16] = {DETAIL_TYPE_STRING, 0, 5, 0, '/', 'a', '\n', 'b', 'c'};
    const uint8_t number[8] = {DETAIL_TYPE_U8, 0, 1, 0, 42};
    struct trace_bytes bytes = {.size_bytes = 0};

    trace_bytes_put(&bytes, &call, sizeof(call));
    trace_bytes_put(&bytes, string, sizeof(string));
    trace_bytes_put(&bytes, &enter, sizeof(enter));
    call.record.size_bytes = sizeof(call);
    call.record.function = 231;
    call.flags = DETAIL_SYSTEM_CALL_NEVER_RETURNED;
    call.values_bytes = 0;
    trace_bytes_put(&bytes, &call, sizeof(call));
    trace_bytes_put(&bytes, &probe, sizeof(probe));
    trace_bytes_put(&bytes, number, sizeof(number));
    trace_folder_put_stream(
        &folder,
        &(struct trace_stream_plan){.name = "100/101.1.detail.gait",
                                    .header = {.kind = TRACE_STREAM_DETAIL, .pid = 100, .tid = 101, .generation = 1},
                                    .bytes = &bytes});
}

static void system_calls_and_probes_have_lines_of_their_own(void)
{
    struct command_run run;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    put_others();
    run = COMMAND_RUN(&command_dump_details, 100, folder.path);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_TEXT(run.output, "100\t101\t3000\tsystem call\t0\t257\t0xffffff9c\t0x5000\t0x0\t0x0\t0x5\t0x6\t100\t0x4\t-2\t"
                           "\"/a\\nbc\"\n"
                           "100\t101\t3100\tsystem call entered\t0\t231\t0x1\t0x0\t0x0\t0x0\t0x0\t0x0\n"
                           "100\t101\t3000\tsystem call\t0\t231\t0xffffff9c\t0x5000\t0x0\t0x0\t0x5\t0x6\t100\t0x1\t?\n"
                           "100\t101\t3200\tprobe\t0\texample+0x1100\t4\t42\n");
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
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
    CHECK_CASE(system_calls_and_probes_have_lines_of_their_own),
};

CHECK_MAIN(cases)
