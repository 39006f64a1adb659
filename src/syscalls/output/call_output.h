/* SPDX-License-Identifier: MIT */
/*
 * Where lines of system calls go: standard error, a file, a command's input, or a file for each thread, whose name ends
 * with its number. One thread at a time.
 */
#ifndef GAIT_SYSCALLS_OUTPUT_CALL_OUTPUT_H
#define GAIT_SYSCALLS_OUTPUT_CALL_OUTPUT_H

#include "base/attributes.h"
#include "gait/error.h"
#include "syscalls/output/system_call_lines.h"

struct call_output_options {
    const char *name; /* of the file; "|COMMAND" or "!COMMAND"; NULL: standard error */
    bool appends;
    bool is_separate; /* a file for each thread, where there is a name of one */
};

struct call_output;

/* -errno: it cannot be written there; err says why. */
MUST_USE int call_output_open(const struct call_output_options *options, const struct system_call_lines_options *lines,
                              struct call_output **output_out, struct gait_error *err);

/* Writes what the event says, where its thread's lines go. */
void call_output_put(struct call_output *output, const struct system_call_event *event);

/* For whatever is no line of a thread's. NULL: there is a file for each thread only. */
FILE *call_output_stream(struct call_output *output);

/* Ends lines that are open, since nothing more will come. */
void call_output_detach(struct call_output *output);

/* Whoever looks meanwhile sees what was written so far. */
void call_output_flush(struct call_output *output);

/* Frees it, after waiting for a command. Not all that was written may have arrived: -errno, and err says why. */
MUST_USE int call_output_close(struct call_output *output, struct gait_error *err);

#endif
