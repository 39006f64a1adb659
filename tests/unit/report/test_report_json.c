/* SPDX-License-Identifier: MIT */
/* As gait report --json writes it. */
#include "report/report_json.h"

#include "cli/command.h"
#include "support/check.h"
#include "support/command_run.h"
#include "support/hooked_thread.h"
#include "trace/manifest.h"

extern const struct command command_report;

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

static void the_recording_and_its_threads_are_there(void)
{
    begin();
    expect_in(COMMAND_RUN(&command_report, 100, folder.path, "--json"),
              " \"program\": \"./example\",\n"
              " \"command\": [\n  \"gait\",\n  \"record\",\n  \"./example\",\n  \"--fast\"\n ],\n"
              " \"began_unix_ns\": 1700000000000000000,\n"
              " \"duration_ns\": 2500000000,\n"
              " \"ended\": \"exit\",\n"
              " \"events\": [\n  \"call\",\n  \"ret\"\n ],\n"
              " \"times\": \"recorded\",\n"
              " \"lost_bytes\": 288,\n");
    expect_in(COMMAND_RUN(&command_report, 100, folder.path, "--json"), "   \"left_count\": 0,\n"
                                                                        "   \"left\": []\n");
    expect_in(COMMAND_RUN(&command_report, 100, folder.path, "--json"),
              "   \"tid\": 101,\n"
              "   \"generation\": 1,\n"
              "   \"name\": \"worker\",\n"
              "   \"events\": {\n    \"call\": 5,\n    \"ret\": 5\n   },\n"
              "   \"lost_bytes\": 288,\n"
              "   \"unwritten_bytes\": 0,\n"
              "   \"loss_count\": 4,\n");
    trace_folder_deinit(&folder);
}

static void counters_that_matter_are_with_the_process(void)
{
    struct manifest manifest;

    begin();
    expect_in(COMMAND_RUN(&command_report, 100, folder.path, "--json"), "   \"counters\": [],\n");
    CHECK_EQUAL(manifest_read(folder.fd, &manifest, NULL), 0);
    manifest.processes[0].counters.values[COUNTER_blocks_linked] = 9;
    manifest.processes[0].counters.values[COUNTER_hook_calls_untracked] = UINT64_MAX;
    CHECK_EQUAL(manifest_write(&manifest, folder.fd, NULL), 0);
    manifest_free(&manifest);
    expect_in(
        COMMAND_RUN(&command_report, 100, folder.path, "--json"),
        "   \"counters\": [\n    {\n"
        "     \"name\": \"hook_calls_untracked\",\n"
        "     \"value\": 18446744073709551615,\n"
        "     \"unit\": \"calls\",\n"
        "     \"consequence\": \"some calls of hooked functions, or their returns, are missing: there was no memory "
        "for them\"\n"
        "    }\n   ],\n");
    trace_folder_deinit(&folder);
}

static void all_rows_are_there_with_all_numbers(void)
{
    begin();
    expect_in(COMMAND_RUN(&command_report, 100, folder.path, "--json", "--sort", "self"),
              " \"by\": \"function\",\n"
              " \"sort\": \"self\",\n"
              " \"filter\": null,\n"
              " \"row_count\": 2,\n"
              " \"rows\": [\n"
              "  {\n"
              "   \"name\": \"example+0x1100\",\n"
              "   \"module\": \"/nowhere/example\",\n"
              "   \"address\": \"0x401100\",\n"
              "   \"problem\": \"is gone\",\n"
              "   \"calls\": 13,\n"
              "   \"total_ns\": 8000.0,\n"
              "   \"self_ns\": 6500.0,\n"
              "   \"sum_ns\": 8000.0,\n"
              "   \"min_ns\": 50.0,\n"
              "   \"avg_ns\": 615.4,\n"
              "   \"p50_ns\": 50.0,\n"
              "   \"p90_ns\": 2500.0,\n"
              "   \"p99_ns\": 2500.0,\n"
              "   \"max_ns\": 2500.0,\n"
              "   \"guessed\": 0,\n"
              "   \"cut\": 0,\n"
              "   \"no_return\": 0,\n"
              "   \"unwound\": 0,\n"
              "   \"entry_only\": 0,\n"
              "   \"suspended\": 0\n"
              "  },\n");
    expect_in(COMMAND_RUN(&command_report, 100, folder.path, "--json", "--limit", "1"), " \"row_count\": 2,\n");
    trace_folder_deinit(&folder);
}

static void two_traces_are_one_document(void)
{
    begin();
    expect_in(COMMAND_RUN(&command_report, 100, folder.path, "--json", "--diff", folder.path, "--filter", "*1200"),
              "   \"name\": \"example+0x1200\",\n"
              "   \"module\": \"example\",\n"
              "   \"difference\": 0.0,\n"
              "   \"before\": {\n"
              "    \"calls\": 3,\n");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_recording_and_its_threads_are_there),
    CHECK_CASE(counters_that_matter_are_with_the_process),
    CHECK_CASE(all_rows_are_there_with_all_numbers),
    CHECK_CASE(two_traces_are_one_document),
};

CHECK_MAIN(cases)
