/* SPDX-License-Identifier: MIT */
/*
 * Looks up the functions that the patterns of a recording mean, before it begins, in the files that a program consists
 * of or a process has mapped. What linkers' names do not tell the agent is told by addresses; what is nowhere is
 * refused with the nearest names, or awaited if code may come later. One thread at a time.
 */
#ifndef GAIT_CLI_FUNCTION_LOOKUP_H
#define GAIT_CLI_FUNCTION_LOOKUP_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct agent_options;
struct program_files;
struct record_options;

struct function_lookup {
    const struct record_options *options;
    const struct program_files *files;
    pid_t pid;        /* of a process that runs; 0: it is a program */
    bool is_repeated; /* for a program that is executed: nothing is said or refused */
    uint64_t awaited; /* filled in: patterns that mean nothing yet, a bit for each */
    bool is_for_each; /* filled in: some have to be looked up in each program that is executed */
    /* Gets a sentence about what the user may not expect. */
    void (*say)(void *context, const char *text);
    void *context;
};

/*
 * Changes the patterns that the agent gets, and adds what was found. -ENOENT: one means nothing, and nothing will come;
 * -E2BIG: one means too many functions.
 */
MUST_USE int function_lookup_run(struct function_lookup *lookup, struct agent_options *agent, struct gait_error *err);

#endif
