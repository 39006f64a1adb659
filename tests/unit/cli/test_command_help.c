/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "cli/commands.h"
#include "support/check.h"
#include "support/command_run.h"

extern const struct command command_help;

static void all_commands_are_listed(void)
{
    struct command_run run = command_run(&command_help, 80, (const char *const[]){NULL});

    CHECK_EQUAL(run.status, COMMAND_DONE);
    for (size_t i = 0; commands_get(i) != NULL; i++) {
        CHECK(strstr(run.output, commands_get(i)->name) != NULL);
        CHECK(strstr(run.output, commands_get(i)->summary) != NULL);
    }
    CHECK(strstr(run.output, "\033") == NULL);
    command_run_deinit(&run);
}

static void one_command_is_explained(void)
{
    struct command_run run = COMMAND_RUN(&command_help, 80, "dump", "relocation");

    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK(strstr(run.output, "usage: gait dump relocation FILE") == run.output);
    CHECK(strstr(run.output, "--spill") != NULL);
    command_run_deinit(&run);
}

static void an_unknown_command_is_not_explained(void)
{
    struct command_run run = COMMAND_RUN(&command_help, 80, "versoin");

    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    CHECK(strstr(run.err.text, "gait version") != NULL);
    command_run_deinit(&run);
}

static const struct check_case cases[] = {
    CHECK_CASE(all_commands_are_listed),
    CHECK_CASE(one_command_is_explained),
    CHECK_CASE(an_unknown_command_is_not_explained),
};

CHECK_MAIN(cases)
