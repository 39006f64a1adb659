/* SPDX-License-Identifier: MIT */
/* As gait report and its relatives show a recording by hooks. */
#include "cli/report_times.h"

#include "cli/command.h"
#include "support/check.h"
#include "support/command_run.h"
#include "support/trace_folder.h"

extern const struct command command_dump_events, command_report, command_verify;

static struct trace_folder folder;

static void put(struct trace_bytes *bytes, uint32_t number, enum event_record record, uint32_t depth, uint64_t time)
{
    uint32_t words[2] = {event_header(number, record), depth};

    trace_bytes_put(bytes, words, sizeof(words));
    trace_bytes_put_long(bytes, time);
}

/* Another thread of the example's, with two hooked functions: the code of blocks 1 and 2. */
static void begin(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    for (uint64_t i = 1; i <= 3; i++) {
        put(&bytes, 1, EVENT_RECORD_ENTER, 0, 1000000 * i);
        put(&bytes, 2, EVENT_RECORD_ENTER, 1, 1000000 * i + 500);
        put(&bytes, 2, i == 3 ? EVENT_RECORD_UNWOUND : EVENT_RECORD_LEAVE, 1, 1000000 * i + 1000);
        put(&bytes, 1, EVENT_RECORD_LEAVE, 0, 1000000 * i + 2500);
    }
    trace_folder_put_stream(&folder, &(struct trace_stream_plan){.name = "100/102.1.index.gait",
                                                                 .header = {.kind = TRACE_STREAM_INDEX,
                                                                            .pid = 100,
                                                                            .tid = 102,
                                                                            .generation = 1,
                                                                            .space = 1,
                                                                            .events = EVENTS_HOOKED,
                                                                            .with_times = 1},
                                                                 .bytes = &bytes,
                                                                 .pack = true});
}

static void expect(const struct command *command, const char *part)
{
    struct command_run run = COMMAND_RUN(command, 100, folder.path);

    CHECK_EQUAL(run.status, COMMAND_DONE);
    if (strstr(run.output, part) == NULL)
        CHECK_TEXT(run.output, part);
    command_run_deinit(&run);
}

static void hooked_functions_are_shown_with_their_times(void)
{
    begin();
    expect(&command_report, "       total        self self a call     longest        calls  function\n"
                            "     7.50 us     6.00 us     2.00 us     2.50 us           13  example+0x1100\n"
                            "     1.50 us     1.50 us      500 ns      500 ns            3  example+0x1200\n"
                            "\n"
                            "         calls   share  function                          file\n"
                            "            13  81.25%  example+0x1100                    /nowhere/example (is gone)\n"
                            "             3  18.75%  example+0x1200                    /nowhere/example (is gone)\n");
    expect(&command_report, "  enters         leaves ");
    trace_folder_deinit(&folder);
}

static void hooked_functions_are_lines_of_a_dump(void)
{
    begin();
    expect(&command_dump_events, "100\t102\t3000000\tenter\t0\texample+0x1100\n"
                                 "100\t102\t3000500\tenter\t1\texample+0x1200\n"
                                 "100\t102\t3001000\tunwound\t1\texample+0x1200\n"
                                 "100\t102\t3002500\tleave\t0\texample+0x1100\n");
    trace_folder_deinit(&folder);
}

static void streams_of_hooked_functions_are_verified(void)
{
    begin();
    expect(&command_verify, "100/102.1.index.gait  good     1 chunk, 192 bytes, 12 events, 0 bytes lost");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(hooked_functions_are_shown_with_their_times),
    CHECK_CASE(hooked_functions_are_lines_of_a_dump),
    CHECK_CASE(streams_of_hooked_functions_are_verified),
};

CHECK_MAIN(cases)
