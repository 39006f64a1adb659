/* SPDX-License-Identifier: MIT */
/* The list of all commands, by name. Constant; callable from anywhere. */
#ifndef GAIT_CLI_COMMANDS_H
#define GAIT_CLI_COMMANDS_H

#include "cli/command.h"

#include <stddef.h>

/* Command number `which`, in the order of commands.def; NULL behind the last. */
const struct command *commands_get(size_t which);

/*
 * The command whose name the first words are; *used_out says how many. NULL: there is none, and the error names what
 * comes nearest.
 */
const struct command *commands_find(int word_count, char *const *words, int *used_out, struct gait_error *err);

#endif
