/* SPDX-License-Identifier: MIT */
/* As gait report shows it. */
#include "cli/report_probes.h"

#include "cli/command.h"
#include "support/check.h"
#include "support/command_run.h"
#include "support/probe_trace.h"

extern const struct command command_report, command_verify;

static struct trace_folder folder;

static void expect(struct command_run run, const char *part)
{
    CHECK_EQUAL(run.status, COMMAND_DONE);
    if (strstr(run.output, part) == NULL)
        CHECK_TEXT(run.output, part);
    command_run_deinit(&run);
}

static void probes_are_shown_by_how_often(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    probe_trace_put(&folder, 100, 0x401100);
    expect(COMMAND_RUN(&command_report, 100, folder.path),
           "         times  probes of process 100; with the last arguments\n"
           "             2  shop:order(8, \"milk\")\n"
           "             1  shop:idle()\n"
           "             1  probe 2()\n");
    expect(COMMAND_RUN(&command_report, 100, "--limit", "1", folder.path), "             2  shop:order(8, \"milk\")\n"
                                                                           "and 2 more; --limit shows them\n");
    expect(COMMAND_RUN(&command_report, 100, "--json", folder.path), "\"provider\": \"shop\"");
    expect(COMMAND_RUN(&command_verify, 100, folder.path), "good");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(probes_are_shown_by_how_often),
};

CHECK_MAIN(cases)
