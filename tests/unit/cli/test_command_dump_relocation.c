/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "arch/arch.h"
#include "support/check.h"
#include "support/command_run.h"

extern const struct command command_dump_relocation;

static void original_and_copy_are_shown(void)
{
    struct command_run run = COMMAND_RUN(&command_dump_relocation, 100, "libc.so.6", "random", "--far");

    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK(strstr(run.output, "random: ") == run.output);
    CHECK(strstr(run.output, " * ") != NULL);
    CHECK(strstr(run.output, "ret") != NULL);
    command_run_deinit(&run);
}

static void each_option_changes_the_copy(void)
{
    static const char *const options[][2] = {
        {"--far", NULL}, {"--far", "--spill=segment"}, {"--far", "--return=original"}, {"--spill=stack", NULL}};
    struct command_run runs[4];

    for (int i = 0; i < 4; i++) {
        runs[i] = COMMAND_RUN(&command_dump_relocation, 120, "libc.so.6", "random", options[i][0], options[i][1]);
        CHECK_EQUAL(runs[i].status, COMMAND_DONE);
        for (int j = 0; j < i; j++)
            CHECK(strcmp(runs[i].output, runs[j].output) != 0);
    }
    CHECK(strstr(runs[1].output, "gs:[") != NULL);
    for (int i = 0; i < 4; i++)
        command_run_deinit(&runs[i]);
}

static void wrong_arguments_are_told(void)
{
    struct command_run run = COMMAND_RUN(&command_dump_relocation, 80, "libc.so.6", "random", "--near");

    CHECK_EQUAL(run.status, COMMAND_MISUSED);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_dump_relocation, 80, "libc.so.6", "randm");
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK(strstr(run.err.text, "rand") != NULL);
    command_run_deinit(&run);
    run = COMMAND_RUN(&command_dump_relocation, 80, "libnothing.so.1", "random");
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    command_run_deinit(&run);
}

static const struct check_case cases[] = {
    CHECK_CASE(original_and_copy_are_shown),
    CHECK_CASE(each_option_changes_the_copy),
    CHECK_CASE(wrong_arguments_are_told),
};

int main(void)
{
    if (arch_host() == NULL)
        check_skip("gait does not know this CPU's instructions yet");
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
