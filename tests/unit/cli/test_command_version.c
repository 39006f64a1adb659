/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "gait/version.h"
#include "support/check.h"
#include "support/command_run.h"

extern const struct command command_version;

static void the_version_is_printed(void)
{
    struct command_run run = command_run(&command_version, 80, (const char *const[]){NULL});
    char expected[64];

    snprintf(expected, sizeof(expected), "gait %s\n", gait_version());
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_TEXT(run.output, expected);
    command_run_deinit(&run);
}

static void arguments_are_refused(void)
{
    struct command_run run = COMMAND_RUN(&command_version, 80, "please");

    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    CHECK_TEXT(run.output, "");
    CHECK(strstr(run.err.text, "'please'") != NULL);
    command_run_deinit(&run);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_version_is_printed),
    CHECK_CASE(arguments_are_refused),
};

CHECK_MAIN(cases)
