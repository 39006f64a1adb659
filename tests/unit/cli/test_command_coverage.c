/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "support/check.h"
#include "support/command_run.h"
#include "support/coverage_lab.h"

#include <unistd.h>

extern const struct command command_coverage;

static void a_trace_without_its_files_is_shown(void)
{
    struct trace_folder folder;
    struct command_run run;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    run = COMMAND_RUN(&command_coverage, 100, folder.path, "--functions");
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_TEXT(run.output, "functions that ran           module\n"
                           "      1 of        1 100.0 %  /nowhere/example (its file is gone: only what ran is known)\n"
                           "\n"
                           "/nowhere/example: 1 function that ran\n"
                           "          10  example+0x1100\n");
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
}

static void what_is_no_trace_is_refused(void)
{
    struct trace_folder folder;
    struct command_run run = COMMAND_RUN(&command_coverage, 100, "/nowhere/trace");

    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK(strstr(run.err.text, "/nowhere/trace") != NULL);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_coverage, 100, "--nonsense");
    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    command_run_deinit(&run);
    trace_folder_init(&folder);
    run = COMMAND_RUN(&command_coverage, 100, folder.path);
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK_TEXT(run.output, "");
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
}

static void a_trace_that_tells_nothing_says_what_to_do(void)
{
    struct trace_folder folder;
    struct command_run run;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(unlinkat(folder.fd, "100/100.1.index.gait", 0), 0);
    CHECK_EQUAL(unlinkat(folder.fd, "100/101.1.index.gait", 0), 0);
    run = COMMAND_RUN(&command_coverage, 100, folder.path);
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK(strstr(run.err.text, "holds no record of which code ran; record it with") != NULL);
    command_run_deinit(&run);
    trace_folder_deinit(&folder);
}

static void what_can_be_read_is_shown(void)
{
    struct coverage_lab lab;
    struct command_run run;
    size_t size_bytes;
    uint8_t *bytes;

    coverage_lab_init(&lab, COVERAGE_LAB_BLOCKS);
    bytes = trace_folder_read(&lab.folder, "100/100.1.index.gait", &size_bytes);
    trace_folder_write(&lab.folder, "100/100.1.index.gait", bytes, size_bytes - 8);
    free(bytes);
    run = COMMAND_RUN(&command_coverage, 100, lab.folder.path, "--functions");
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK(strstr(run.err.text, "100.1.index.gait") != NULL);
    CHECK(strstr(run.output, "coverage_lab_ran") != NULL);
    command_run_deinit(&run);
    coverage_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_trace_without_its_files_is_shown),
    CHECK_CASE(what_is_no_trace_is_refused),
    CHECK_CASE(a_trace_that_tells_nothing_says_what_to_do),
    CHECK_CASE(what_can_be_read_is_shown),
};

CHECK_MAIN(cases)
