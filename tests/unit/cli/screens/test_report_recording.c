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

/* The first lines of a report of the example, with such a manifest. */
static void expect(const struct manifest *manifest, const char *part)
{
    struct command_run run;

    if (manifest != NULL)
        CHECK_EQUAL(manifest_write(manifest, folder.fd, NULL), 0);
    run = COMMAND_RUN(&command_report, 100, folder.path);
    if (strstr(run.output, part) == NULL)
        CHECK_TEXT(run.output, part);
    command_run_deinit(&run);
}

static void what_was_recorded_is_said_first(void)
{
    begin();
    expect(NULL, "program    ./example\n"
                 "command    gait record ./example --fast\n"
                 "recorded   2023-11-14 22:13:20 UTC, for 2.500 s\n"
                 "ended      exit status 3\n"
                 "events     call, ret; with times\n"
                 "calls      10 of 1 function, in 2 threads\n"
                 "lost       288 bytes of records, in 4 places\n"
                 "\n");
    trace_folder_deinit(&folder);
}

/* Escape sequences of a program's name do not reach the terminal. */
static void how_it_ended_is_said(void)
{
    struct manifest manifest;
    const char *ended;
    char *program;

    begin();
    CHECK_EQUAL(manifest_read(folder.fd, &manifest, NULL), 0);
    ended = manifest.ended;
    manifest.ended = "running";
    expect(&manifest, "\nended      not yet, or the recorder was killed\n");
    manifest.ended = "detached";
    expect(&manifest, "\nended      detached, exit status 3\n");
    manifest.ended = "signal";
    manifest.processes[0].status = 9;
    expect(&manifest, "\nended      killed by signal 9 (SIGKILL)\n");
    program = manifest.program;
    manifest.program = "\x1b[31mred";
    expect(&manifest, "program    ?[31mred\n");
    manifest.program = program;
    manifest.ended = ended;
    manifest_free(&manifest);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_was_recorded_is_said_first),
    CHECK_CASE(how_it_ended_is_said),
};

CHECK_MAIN(cases)
