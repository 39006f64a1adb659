/* SPDX-License-Identifier: MIT */
/* gait version. */
#include "cli/command.h"

#include "cli/options/arguments.h"
#include "cli/screens/screen.h"
#include "gait/version.h"

static enum command_status run(const struct command_call *call)
{
    static const struct argument_rules rules = {.command = "version"};
    enum command_status status = arguments_parse(call, &rules, NULL);

    if (status == COMMAND_DONE)
        screen_print(call->screen, "gait %s\n", gait_version());
    return status;
}

extern const struct command command_version;
const struct command command_version = {
    .name = "version",
    .arguments = "",
    .summary = "show the version of gait",
    .details = "Prints the version and nothing else, for scripts too. 'gait --version' is the same.\n"
               "\n"
               "Examples:\n"
               "  gait version\n"
               "  test \"$(gait version)\" = 'gait 0.1.0'\n",
    .run = run,
};
