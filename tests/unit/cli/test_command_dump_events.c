/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/command.h"

#include "support/check.h"
#include "support/command_run.h"
#include "support/trace_folder.h"

#include <fcntl.h>
#include <unistd.h>

extern const struct command command_dump_events;

static struct trace_folder folder;

static unsigned count_lines_with(const char *text, const char *part)
{
    unsigned count = 0;

    while ((text = strstr(text, part)) != NULL) {
        count++;
        text = strchr(text, '\n');
    }
    return count;
}

static void every_event_is_a_line(void)
{
    struct command_run run;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    run = COMMAND_RUN(&command_dump_events, 100, folder.path);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_EQUAL(count_lines_with(run.output, "\tcall\t0\texample+0x"), 10);
    CHECK_EQUAL(count_lines_with(run.output, "\tret\t1\texample+0x"), 10);
    CHECK_EQUAL(count_lines_with(run.output, "100\t101\tlost\t72\n"), 4);
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
}

/* Chunks of 8 bytes, each of them 8 later than the one before. */
static void guessed_times_are_marked(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct trace_stream_plan plan = {
        .name = "100/105.1.index.gait",
        .header = {.kind = TRACE_STREAM_INDEX, .pid = 100, .tid = 105, .generation = 1, .space = 1, .events = 8},
        .bytes = &bytes,
        .piece_bytes = 8,
    };
    struct command_run run;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    for (int i = 0; i < 4; i++)
        trace_bytes_put_header(&bytes, 0, EVENT_RECORD_BLOCK);
    trace_folder_put_stream(&folder, &plan);
    run = COMMAND_RUN(&command_dump_events, 100, folder.path);
    CHECK_EQUAL(count_lines_with(run.output, "100\t105\tblock\t"), 4);
    CHECK_EQUAL(count_lines_with(run.output, "~"), 0);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_dump_events, 100, folder.path, "--guess-times");
    CHECK_EQUAL(count_lines_with(run.output, "100\t105\t~100"), 3);
    CHECK_EQUAL(count_lines_with(run.output, "100\t105\t~10"), 4);
    CHECK_EQUAL(count_lines_with(run.output, "~"), 4);
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
}

static void what_cannot_be_read_is_said(void)
{
    struct command_run run;

    trace_folder_init(&folder);
    run = COMMAND_RUN(&command_dump_events, 100, folder.path);
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    command_run_deinit(&run);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(unlinkat(folder.fd, "100/blocks.gait", 0), 0);
    run = COMMAND_RUN(&command_dump_events, 100, folder.path);
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK(strstr(run.err.text, "blocks.gait is missing") != NULL);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_dump_events, 100, "--nonsense");
    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(every_event_is_a_line),
    CHECK_CASE(guessed_times_are_marked),
    CHECK_CASE(what_cannot_be_read_is_said),
};

CHECK_MAIN(cases)
