/* SPDX-License-Identifier: MIT */
/* As gait report, graph and stacks show it. */
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

static void functions_of_profiles_have_a_line_each(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    kernel_trace_put_run(&folder);
    command_check_part(&command_report, WORDS(folder.path),
                       "profile:hz:100: 2 samples with a stack\n"
                       "\n"
                       "2 functions by samples with all that they call\n"
                       "     total        %      self   self %  function          module\n"
                       "         2  100.0 %         0    0.0 %  [example]         example\n"
                       "         2  100.0 %         2  100.0 %  ticking           kernel\n");
    command_check_part(&command_report, WORDS("--json", folder.path), "\"function\": \"ticking\"");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_of_profiles_have_a_line_each),
};

CHECK_MAIN(cases)
