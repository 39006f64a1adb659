/* SPDX-License-Identifier: MIT */
/* Runs a command of the gait program inside of a test, and keeps what it printed. */
#ifndef GAIT_TESTS_COMMAND_RUN_H
#define GAIT_TESTS_COMMAND_RUN_H

#include "cli/command.h"

#define COMMAND_RUN_WORDS 8

struct command_run {
    enum command_status status;
    struct gait_error err;
    char *output; /* all that was printed, ended by a NUL */
};

/* Runs the command with the words behind its name, up to a NULL. The width of its screen is given; no colours. */
struct command_run command_run(const struct command *command, unsigned width, const char *const *words);

/* Forgets the output. */
void command_run_deinit(struct command_run *run);

#define COMMAND_RUN(command, width, ...) command_run(command, width, (const char *const[]){__VA_ARGS__, NULL})

#endif
