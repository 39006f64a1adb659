/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "ring/detail_record.h"
#include "support/check.h"
#include "support/command_run.h"
#include "support/trace_folder.h"

extern const struct command command_stacks;

static struct trace_folder folder;

static void put_stack(struct trace_bytes *bytes, uint64_t function, uint64_t caller, uint32_t flags)
{
    struct detail_stack stack = {
        .record = {.size_bytes = sizeof(stack) + 16, .kind = DETAIL_STACK, .time = 2000, .function = function},
        .frame_count = 2,
        .flags = flags,
    };

    trace_bytes_put(bytes, &stack, sizeof(stack));
    trace_bytes_put_long(bytes, caller);
    trace_bytes_put_long(bytes, 0x999);
}

static void put_stacks(void)
{
    struct detail_leave leave = {.record = {.size_bytes = sizeof(leave), .kind = DETAIL_LEAVE}};
    struct trace_bytes bytes = {.size_bytes = 0};

    put_stack(&bytes, 0x401100, 0x401205, 0);
    trace_bytes_put(&bytes, &leave, sizeof(leave));
    for (unsigned i = 0; i < 100; i++)
        put_stack(&bytes, 0x401100, 0x401305, DETAIL_STACK_GOES_ON);
    put_stack(&bytes, 0x401100, 0x401205, 0);
    put_stack(&bytes, 0x401500, 0x401205, 0);
    trace_folder_put_stream(
        &folder,
        &(struct trace_stream_plan){.name = "100/101.1.detail.gait",
                                    .header = {.kind = TRACE_STREAM_DETAIL, .pid = 100, .tid = 101, .generation = 1},
                                    .bytes = &bytes});
}

static void check_output(const char *const *words, const char *expected)
{
    struct command_run run = command_run(&command_stacks, 100, words);

    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_TEXT(run.output, expected);
    command_run_deinit(&run);
}

static void stacks_that_are_the_same_are_counted(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    check_output((const char *const[]){folder.path, NULL}, "there are no stacks in it; gait spawn --stack keeps those "
                                                           "of functions, and gait probe -o those of profiles\n");
    put_stacks();
    check_output((const char *const[]){folder.path, NULL},
                 "example+0x1100  100 times, process 100, first in thread 101\n"
                 "    example+0x1305\n"
                 "    0x999\n"
                 "    ...\n"
                 "example+0x1100  2 times, process 100, first in thread 101\n"
                 "    example+0x1205\n"
                 "    0x999\n"
                 "example+0x1500  1 time, process 100, first in thread 101\n"
                 "    example+0x1205\n"
                 "    0x999\n");
    check_output((const char *const[]){"--limit", "1", folder.path, NULL},
                 "example+0x1100  100 times, process 100, first in thread 101\n"
                 "    example+0x1305\n"
                 "    0x999\n"
                 "    ...\n"
                 "and 2 more; --limit shows them\n");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(stacks_that_are_the_same_are_counted),
};

CHECK_MAIN(cases)
