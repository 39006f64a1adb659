/* SPDX-License-Identifier: MIT */
/* As gait report shows it. */
#include "cli/screens/report_sections.h"

#include "cli/command.h"
#include "ring/left_log.h"
#include "support/check.h"
#include "support/command_run.h"
#include "support/trace_folder.h"
#include "trace/manifest.h"

#include <stdlib.h>

extern const struct command command_report;

static struct trace_folder folder;

static void leave(const struct manifest_left *left, size_t listed, uint64_t count)
{
    struct manifest manifest;
    struct manifest_left copies[4];

    CHECK_EQUAL(manifest_read(folder.fd, &manifest, NULL), 0);
    for (size_t i = 0; i < listed; i++)
        copies[i] = left[i];
    free(manifest.processes[0].left);
    manifest.processes[0].left = copies;
    manifest.processes[0].left_listed = listed;
    manifest.processes[0].left_count = count;
    CHECK_EQUAL(manifest_write(&manifest, folder.fd, NULL), 0);
    manifest.processes[0].left = NULL;
    manifest_free(&manifest);
}

static void expect(const char *part, bool is_there)
{
    struct command_run run = COMMAND_RUN(&command_report, 100, folder.path);

    CHECK_EQUAL(run.status, COMMAND_DONE);
    if ((strstr(run.output, part) != NULL) != is_there)
        CHECK_TEXT(run.output, part);
    command_run_deinit(&run);
}

static void threads_that_were_left_are_shown_with_place_and_reason(void)
{
    const struct manifest_left left[] = {
        {.time = 5000,
         .pc = 0x401104,
         .tid = 101,
         .reason = RING_LEFT_INSTRUCTION,
         .code = {0x48, 0xcb},
         .code_bytes = 2},
        {.time = 5000, .pc = 0x7, .tid = 102, .reason = RING_LEFT_MEMORY},
        {.time = 5000, .pc = 0x8, .tid = 103, .reason = 0},
    };

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    expect("any further", false);
    leave(left, 1, 1);
    expect("process 100 was not followed any further 1 time\n"
           "thread 101 at example+0x1104: gait does not know how to follow this instruction: 48 cb\n",
           true);
    leave(left, 3, 70);
    expect("was not followed any further 70 times\n", true);
    expect("thread 102 at 0x7: the process had no memory left to translate code\n"
           "thread 103 at 0x8: for a reason that this gait does not know\n"
           "67 more\n",
           true);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(threads_that_were_left_are_shown_with_place_and_reason),
};

CHECK_MAIN(cases)
