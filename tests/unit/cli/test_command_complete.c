/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "cli/commands.h"
#include "support/check.h"
#include "support/command_run.h"

extern const struct command command_complete;

static void expect(const char *expected, const char *const *words)
{
    struct command_run run = command_run(&command_complete, 80, words);

    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_TEXT(run.output, expected);
    command_run_deinit(&run);
}

#define EXPECT(expected, ...) expect(expected, (const char *const[]){__VA_ARGS__, NULL})

static void commands_are_completed(void)
{
    EXPECT("report\nreplay\n", "rep");
    EXPECT("dump\n", "du");
    EXPECT("", "nothing like it");
    EXPECT("events\ndetails\nblock\nrelocation\n", "dump", "");
    EXPECT("details\n", "dump", "det");
    EXPECT("spawn\nstats\nstacks\nsyscalls\n", "help", "s");
}

static void options_are_those_of_the_help(void)
{
    EXPECT("--sort\n", "report", "trace", "--so");
    EXPECT("--output\n--overflow\n", "spawn", "--o");
    EXPECT("--limit\n--help\n", "stacks", "-");
    EXPECT("--guess-times\n", "dump", "events", "--g");
    /* Files are the shell's. */
    EXPECT("", "report", "tra");
    EXPECT("", "no_such_command", "--o");
}

static void other_programs_have_options_of_their_own(void)
{
    EXPECT("", "spawn", "--", "ls", "--o");
    EXPECT("", "spawn", "--quiet", "--", "-");
}

/* Whatever begins with dashes in the arguments that a command shows is in its help, where it is looked for. */
static void no_option_is_forgotten(void)
{
    const struct command *command;

    for (size_t i = 0; (command = commands_get(i)) != NULL; i++)
        for (const char *at = strstr(command->arguments, "--"); at != NULL; at = strstr(at + 2, "--")) {
            size_t length = 2 + strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");
            const char *space = strchr(command->name, ' ');
            char option[64], first[32], wanted[70];
            struct command_run run;

            if (length == 2)
                continue;
            snprintf(option, sizeof(option), "%.*s", (int)length, at);
            snprintf(first, sizeof(first), "%.*s", (int)strcspn(command->name, " "), command->name);
            run = space == NULL ? COMMAND_RUN(&command_complete, 80, first, option)
                                : COMMAND_RUN(&command_complete, 80, first, space + 1, option);
            snprintf(wanted, sizeof(wanted), "%s\n", option);
            if (strstr(run.output, wanted) == NULL)
                CHECK_TEXT(command->name, option);
            command_run_deinit(&run);
        }
}

static const struct check_case cases[] = {
    CHECK_CASE(commands_are_completed),
    CHECK_CASE(options_are_those_of_the_help),
    CHECK_CASE(other_programs_have_options_of_their_own),
    CHECK_CASE(no_option_is_forgotten),
};

CHECK_MAIN(cases)
