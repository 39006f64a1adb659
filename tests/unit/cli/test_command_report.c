/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/command.h"

#include "support/check.h"
#include "support/command_run.h"
#include "support/trace_folder.h"

#include <fcntl.h>
#include <unistd.h>

extern const struct command command_report;

static struct trace_folder folder;

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
}

static void all_of_a_trace_is_shown(void)
{
    struct command_run run;

    begin();
    run = COMMAND_RUN(&command_report, 100, folder.path);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_TEXT(
        run.output,
        "program    ./example\n"
        "command    gait record ./example --fast\n"
        "recorded   2023-11-14 22:13:20 UTC, for 2.500 s\n"
        "ended      exit status 3\n"
        "events     call, ret; with times\n"
        "calls      10 of 1 function, in 2 threads\n"
        "lost       288 bytes of records, in 4 places\n"
        "\n"
        "    pid  parent  command\n"
        "    100       -  ./example --fast  (exit status 3)\n"
        "\n"
        "    pid       tid  thread                    calls        returns     bytes lost\n"
        "    100       100  example                       5              5              0\n"
        "    100       101  worker                        5              5            288\n"
        "                   all                          10             10            288\n"
        "\n"
        "1 function by total time, with all that is called\n"
        "     total      self  self %      calls       min       avg       p50       p99       max  function        "
        "module\n"
        "    500 ns    500 ns 100.0 %         10     50 ns     50 ns     50 ns     50 ns     50 ns  example+0x1100  "
        "example (is gone)\n"
        "\n"
        "1 function by self time, without what is called\n"
        "     total      self  self %      calls       min       avg       p50       p99       max  function        "
        "module\n"
        "    500 ns    500 ns 100.0 %         10     50 ns     50 ns     50 ns     50 ns     50 ns  example+0x1100  "
        "example (is gone)\n");
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
}

static void what_cannot_be_shown_is_said(void)
{
    struct command_run run;

    begin();
    run = COMMAND_RUN(&command_report, 100, folder.path, "--filter", "example+0x1101");
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK_TEXT(run.output, "");
    CHECK(strstr(run.err.text, "no function that was called matches; did you mean example+0x1100?") != NULL);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_report, 100, folder.path, "--by", "line");
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK(strstr(run.err.text, "no function has line information") != NULL);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_report, 100, folder.path, "--sort", "fastest");
    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_report, 100, folder.path, "--diff", "/nowhere");
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK(strstr(run.err.text, "/nowhere") != NULL);
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
}

static void expect(enum command_status status, const char *part)
{
    struct command_run run = COMMAND_RUN(&command_report, 100, folder.path, "--limit", "1");

    CHECK_EQUAL(run.status, status);
    if (strstr(run.output, part) == NULL && strstr(run.err.text, part) == NULL) {
        CHECK_TEXT(run.output, part);
        CHECK_TEXT(run.err.text, part);
    }
    command_run_deinit(&run);
}

static void functions_are_limited(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};

    begin();
    trace_bytes_put_wide_header(&bytes, 0, EVENT_RECORD_CALL_TARGET);
    trace_bytes_put_long(&bytes, 0x1000);
    trace_bytes_put_long(&bytes, 0x777000);
    trace_folder_put_stream(
        &folder,
        &(struct trace_stream_plan){
            .name = "100/102.3.index.gait",
            .header = {.kind = TRACE_STREAM_INDEX, .pid = 100, .tid = 102, .generation = 3, .space = 1, .events = 1},
            .bytes = &bytes});
    expect(COMMAND_DONE, "and 1 more; --limit shows them");
    expect(COMMAND_DONE, "    100     102.3 ");
    trace_folder_deinit(&folder);
}

static void what_cannot_be_read_is_told_with_the_rest(void)
{
    size_t size;
    uint8_t *bytes;

    begin();
    bytes = trace_folder_read(&folder, "100/101.1.index.gait", &size);
    trace_folder_write(&folder, "100/101.1.index.gait", bytes, size - 70);
    free(bytes);
    expect(COMMAND_DONE, "cannot read all of '100/101.1.index.gait': it is cut off after chunk 4, at byte 480");
    CHECK_EQUAL(unlinkat(folder.fd, "100/blocks.gait", 0), 0);
    expect(COMMAND_FAILED, "240 bytes are no records of known blocks");
    CHECK_EQUAL(unlinkat(folder.fd, "manifest.json", 0), 0);
    expect(COMMAND_FAILED, "there is none, so this is no trace");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(all_of_a_trace_is_shown),
    CHECK_CASE(what_cannot_be_shown_is_said),
    CHECK_CASE(functions_are_limited),
    CHECK_CASE(what_cannot_be_read_is_told_with_the_rest),
};

CHECK_MAIN(cases)
