/* SPDX-License-Identifier: MIT */
#include "cli/screens/report_sections.h"

#include "cli/command.h"
#include "support/check.h"
#include "support/command_run.h"
#include "support/trace_folder.h"
#include "trace/manifest.h"

extern const struct command command_report;

static struct trace_folder folder;

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
}

static void expect(const char *part)
{
    struct command_run run = COMMAND_RUN(&command_report, 100, folder.path);

    CHECK_EQUAL(run.status, COMMAND_DONE);
    if (strstr(run.output, part) == NULL)
        CHECK_TEXT(run.output, part);
    command_run_deinit(&run);
}

static void threads_are_shown_with_their_events(void)
{
    begin();
    expect("\n"
           "    pid  parent  command\n"
           "    100       -  ./example --fast  (exit status 3)\n"
           "\n"
           "    pid       tid  thread                    calls        returns     bytes lost\n"
           "    100       100  example                       5              5              0\n"
           "    100       101  worker                        5              5            288\n"
           "                   all                          10             10            288\n"
           "\n");
    trace_folder_deinit(&folder);
}

/* The example, in which the second thread had to wait. */
static void threads_that_waited_have_a_column(void)
{
    struct manifest manifest;

    begin();
    CHECK_EQUAL(manifest_read(folder.fd, &manifest, NULL), 0);
    manifest.processes[0].threads[1].wait_count = 2;
    manifest.processes[0].threads[1].waited_ns = 1250000000;
    manifest.processes[0].losses.late_bytes = 288;
    CHECK_EQUAL(manifest_write(&manifest, folder.fd, NULL), 0);
    manifest_free(&manifest);
    expect("calls        returns     bytes lost         waited\n"
           "    100       100  example                       5              5              0           0 ns\n"
           "    100       101  worker                        5              5            288        1.250 s\n"
           "                   all                          10             10            288        1.250 s\n"
           "process 100 lost 288 bytes of records that were not read in time\n");
    trace_folder_deinit(&folder);
}

/* Only those that mean something for the trace. */
static void counters_that_matter_are_explained(void)
{
    struct manifest manifest;

    begin();
    CHECK_EQUAL(manifest_read(folder.fd, &manifest, NULL), 0);
    manifest.processes[0].losses.late_bytes = 288;
    manifest.processes[0].counters.values[COUNTER_blocks_linked] = 9;
    manifest.processes[0].counters.values[COUNTER_threads_left] = 9;
    manifest.processes[0].counters.values[COUNTER_hook_returns_guessed] = 2;
    manifest.processes[0].counters.values[COUNTER_system_calls_untracked] = UINT64_MAX;
    CHECK_EQUAL(manifest_write(&manifest, folder.fd, NULL), 0);
    manifest_free(&manifest);
    expect(
        "process 100 lost 288 bytes of records that were not read in time\n"
        "process 100: a hooked function returned, and it was not known where to, so the program may have gone on at a "
        "wrong place (hook_returns_guessed: 2 calls)\n"
        "process 100: some system calls, or their results, are missing: there was no memory for them "
        "(system_calls_untracked: 18446744073709551615 calls)\n"
        "\n");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(threads_are_shown_with_their_events),
    CHECK_CASE(threads_that_waited_have_a_column),
    CHECK_CASE(counters_that_matter_are_explained),
};

CHECK_MAIN(cases)
