/* SPDX-License-Identifier: MIT */
/* As gait report, verify and replay show it. */
#include "cli/screens/report_sections.h"

#include "cli/command.h"
#include "support/command_check.h"
#include "support/kernel_trace.h"

extern const struct command command_report, command_verify;

static struct trace_folder folder;

#define WORDS(...)                                                                                                     \
    (const char *const[])                                                                                              \
    {                                                                                                                  \
        __VA_ARGS__, NULL                                                                                              \
    }

static void sources_have_a_line_each(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    kernel_trace_put_example(&folder);
    command_check_part(&command_report, WORDS(folder.path),
                       "kernel events    per second        lost  source\n"
                       "            3     10000000.0           5  "
                       "tracepoint:clock:tick\n"
                       "            1      3333333.3           0  "
                       "tracepoint:clock:tock\n");
    command_check_part(&command_report, WORDS("--json", folder.path), "\"spec\": \"tracepoint:clock:tick\"");
    command_check_part(&command_verify, WORDS(folder.path), "kernel/1.events.gait");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(sources_have_a_line_each),
};

CHECK_MAIN(cases)
