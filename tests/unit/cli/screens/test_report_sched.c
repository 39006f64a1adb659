/* SPDX-License-Identifier: MIT */
/* As gait report shows it. */
#include "cli/screens/report_sections.h"

#include "cli/command.h"
#include "support/command_check.h"
#include "support/kernel_trace.h"

extern const struct command command_report;

static struct trace_folder folder;

#define WORDS(...)                                                                                                     \
    (const char *const[])                                                                                              \
    {                                                                                                                  \
        __VA_ARGS__, NULL                                                                                              \
    }

static void times_of_threads_stand_for_the_events(void)
{
    struct command_run run;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    kernel_trace_put_run(&folder);
    command_check_part(&command_report, WORDS(folder.path),
                       "      tid  thread               on CPU     waited    blocked on CPU %      runs    pushed\n"
                       "      100  early                200 ns      50 ns      50 ns   66.7 %         2         1\n");
    run = COMMAND_RUN(&command_report, 100, folder.path);
    CHECK(strstr(run.output, "sched:run") == NULL);
    command_run_deinit(&run);
    command_check_part(&command_report, WORDS(folder.path, "--sched"), "  sched:run\n");
    command_check_part(&command_report, WORDS(folder.path, "--json"), "\"blocked_ns\": 50");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(times_of_threads_stand_for_the_events),
};

CHECK_MAIN(cases)
