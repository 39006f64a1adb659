/* SPDX-License-Identifier: MIT */
/* What a command prints, or why it refuses, for screens of 100 columns. */
#ifndef GAIT_TESTS_COMMAND_CHECK_H
#define GAIT_TESTS_COMMAND_CHECK_H

#include "support/check.h"
#include "support/command_run.h"
#include "support/trace_folder.h"

static inline void command_check_output(const struct command *command, const char *const *words, const char *expected)
{
    struct command_run run = command_run(command, 100, words);

    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK_TEXT(run.output, expected);
    command_run_deinit(&run);
}

/* A part of what it prints. */
static inline void command_check_part(const struct command *command, const char *const *words, const char *expected)
{
    struct command_run run = command_run(command, 100, words);

    CHECK_EQUAL(run.status, COMMAND_DONE);
    if (strstr(run.output, expected) == NULL)
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

/* A trace of which a stream is cut off is shown as far as it goes, with a warning; one that is damaged is no success.
 */
static inline void command_check_cut_off(const struct command *command, const struct trace_folder *folder,
                                         const char *stream, const char *shown)
{
    struct command_run run;
    size_t size;
    uint8_t *bytes = trace_folder_read(folder, stream, &size);

    trace_folder_write(folder, stream, bytes, size - 1);
    run = COMMAND_RUN(command, 100, folder->path);
    CHECK_EQUAL(run.status, COMMAND_DONE);
    CHECK(strstr(run.err.text, stream) != NULL && strstr(run.err.text, "cut off") != NULL);
    CHECK(strstr(run.output, shown) != NULL);
    command_run_deinit(&run);
    bytes[size - 1] ^= 1;
    trace_folder_write(folder, stream, bytes, size);
    free(bytes);
    run = COMMAND_RUN(command, 100, folder->path);
    CHECK_EQUAL(run.status, COMMAND_FAILED);
    CHECK(strstr(run.err.text, stream) != NULL && strstr(run.err.text, "damaged") != NULL);
    CHECK(strstr(run.output, shown) != NULL);
    command_run_deinit(&run);
}

#endif
