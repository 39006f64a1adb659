/* SPDX-License-Identifier: MIT */
/* What a command prints, or why it refuses, for screens of 100 columns. */
#ifndef GAIT_TESTS_COMMAND_CHECK_H
#define GAIT_TESTS_COMMAND_CHECK_H

#include "support/check.h"
#include "support/command_run.h"

static inline void command_check_output(const struct command *command, const char *const *words, const char *expected)
{
    struct command_run run = command_run(command, 100, words);

    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_TEXT(run.output, expected);
    command_run_deinit(&run);
}

/* A part of what it says. */
static inline void command_check_refusal(const struct command *command, const char *const *words,
                                         enum command_status status, const char *expected)
{
    struct command_run run = command_run(command, 100, words);

    CHECK_EQUAL(run.status, status);
    if (strstr(run.err.text, expected) == NULL)
        CHECK_TEXT(run.err.text, expected);
    command_run_deinit(&run);
}

#endif
