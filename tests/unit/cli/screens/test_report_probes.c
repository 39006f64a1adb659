/* SPDX-License-Identifier: MIT */
/* As gait report shows it. */
#include "cli/screens/report_sections.h"

#include "cli/command.h"
#include "support/command_check.h"
#include "support/probe_trace.h"

extern const struct command command_report, command_verify;

static struct trace_folder folder;

#define WORDS(...)                                                                                                     \
    (const char *const[])                                                                                              \
    {                                                                                                                  \
        __VA_ARGS__, NULL                                                                                              \
    }

static void probes_are_shown_by_how_often(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    probe_trace_put(&folder, 100, 0x401100);
    command_check_part(&command_report, WORDS(folder.path),
                       "         times  probes of process 100; with the last arguments\n"
                       "             2  shop:order(8, \"milk\")\n"
                       "             1  shop:idle()\n"
                       "             1  probe 2()\n");
    command_check_part(&command_report, WORDS("--limit", "1", folder.path),
                       "             2  shop:order(8, \"milk\")\n"
                       "and 2 more; --limit shows them\n");
    command_check_part(&command_report, WORDS("--json", folder.path), "\"provider\": \"shop\"");
    command_check_part(&command_verify, WORDS(folder.path), "good");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(probes_are_shown_by_how_often),
};

CHECK_MAIN(cases)
