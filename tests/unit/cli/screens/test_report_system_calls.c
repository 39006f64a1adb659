/* SPDX-License-Identifier: MIT */
#include "cli/screens/report_sections.h"

#include "cli/command.h"
#include "support/check.h"
#include "support/command_run.h"
#include "support/told_system_calls.h"

extern const struct command command_report;

static void calls_errors_and_times_are_shown(void)
{
    struct trace_folder folder;
    struct command_run run;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    told_system_calls_put(&folder);
    run = COMMAND_RUN(&command_report, 100, folder.path);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK(strstr(run.output, "calls   errors  system call\n") != NULL);
    CHECK(strstr(run.output, " 1        1  openat\n") != NULL);
    CHECK(strstr(run.output, " 1           write\n") != NULL);
    CHECK(strstr(run.output, " 2        1  execve\n") != NULL);
    CHECK(strstr(run.output, " 1           getppid\n") != NULL);
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
}

static void without_any_nothing_is_said(void)
{
    struct trace_folder folder;
    struct command_run run;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    run = COMMAND_RUN(&command_report, 100, folder.path);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK(strstr(run.output, "system call") == NULL);
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_errors_and_times_are_shown),
    CHECK_CASE(without_any_nothing_is_said),
};

CHECK_MAIN(cases)
