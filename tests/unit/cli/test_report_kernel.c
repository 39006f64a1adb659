/* SPDX-License-Identifier: MIT */
/* As gait report, verify and replay show it. */
#include "cli/report_kernel.h"

#include "cli/command.h"
#include "support/check.h"
#include "support/command_run.h"
#include "support/kernel_trace.h"

extern const struct command command_report, command_verify;

static struct trace_folder folder;

static void expect(struct command_run run, const char *part)
{
    CHECK_EQUAL(run.status, COMMAND_DONE);
    if (strstr(run.output, part) == NULL)
        CHECK_TEXT(run.output, part);
    command_run_deinit(&run);
}

static void sources_have_a_line_each(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    kernel_trace_put_example(&folder);
    expect(COMMAND_RUN(&command_report, 100, folder.path), "kernel events    per second        lost  source\n"
                                                           "            3     10000000.0           5  "
                                                           "tracepoint:clock:tick\n"
                                                           "            1      3333333.3           0  "
                                                           "tracepoint:clock:tock\n");
    expect(COMMAND_RUN(&command_report, 100, "--json", folder.path), "\"spec\": \"tracepoint:clock:tick\"");
    expect(COMMAND_RUN(&command_verify, 100, folder.path), "kernel/1.events.gait");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(sources_have_a_line_each),
};

CHECK_MAIN(cases)
