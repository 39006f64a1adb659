/* SPDX-License-Identifier: MIT */
/*
 * The contract for commands. A command is one line in commands.def and one file command_<name>.c, which defines
 * `const struct command command_<name>`; docs/howto/add_command.md shows how. Commands write to the screen they are
 * given and explain failures in call->error; main() prints that, and decides about the exit status. Those that read
 * traces end by reading_status.h.
 */
#ifndef GAIT_CLI_COMMAND_H
#define GAIT_CLI_COMMAND_H

#include "gait/error.h"

#include <stdbool.h>

struct screen;

/* What a command returns, and the exit status of gait. */
enum command_status {
    COMMAND_DONE = 0,
    COMMAND_FAILED = 1,      /* call->error says why */
    COMMAND_MISUSED = 2,     /* the arguments are wrong: call->error says how */
    COMMAND_NOT_THERE = 125, /* a recording has nothing of something that was asked for: it was said what */
};

/* One call: the arguments behind the command's name. All of it is the caller's. */
struct command_call {
    int argument_count;
    char **arguments;
    struct screen *screen;
    struct gait_error *error;
};

struct command {
    const char *name;      /* as typed: one word or two */
    const char *arguments; /* how they are shown behind the name */
    const char *summary;   /* half a line, for the list of commands */
    const char *details;   /* paragraphs for `gait help NAME`: lines of at most 80 characters, each ended by \n */
    bool takes_program;    /* --help among its arguments may be meant for that program, unless it comes first */
    enum command_status (*run)(const struct command_call *call);
};

#endif
