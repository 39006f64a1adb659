/* SPDX-License-Identifier: MIT */
/* Wrong calls; right ones, with what is recorded, are in tests/system/test_record.sh. */
#include "cli/command.h"

#include "support/check.h"
#include "support/command_run.h"

extern const struct command command_spawn;

static void a_program_is_needed(void)
{
    struct command_run run = COMMAND_RUN(&command_spawn, 80, "--times");

    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    CHECK(strstr(run.err.text, "which program?") != NULL);
    command_run_deinit(&run);
}

static void unknown_options_are_refused(void)
{
    struct command_run run = COMMAND_RUN(&command_spawn, 80, "--nonsense", "true");

    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    CHECK(strstr(run.err.text, "cannot use '--nonsense'") != NULL);
    command_run_deinit(&run);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_program_is_needed),
    CHECK_CASE(unknown_options_are_refused),
};

CHECK_MAIN(cases)
