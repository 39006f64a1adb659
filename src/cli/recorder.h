/* SPDX-License-Identifier: MIT */
/* What spawn and attach do while a process is recorded. */
#ifndef GAIT_CLI_RECORDER_H
#define GAIT_CLI_RECORDER_H

#include "cli/command.h"
#include "cli/record_options.h"
#include "inject/target.h"
#include "record/recording.h"

#include <stdbool.h>

/* The agent's options for a command's; `overflow` is what the command does if the user says nothing. */
void recorder_agent_options(const struct record_options *options, int overflow, struct agent_options *agent_out);

/* The recording's options; the program is what the trace is called after. */
struct recording_options recorder_recording_options(const struct record_options *options, const char *program);

/* Why a recording ended. */
enum recorder_end {
    RECORDER_TARGET_ENDED, /* the process is gone; *status_out is its wait status if it was our child, else -1 */
    RECORDER_STOPPED,      /* the user or the time said so */
    RECORDER_FAILED,       /* the error says why */
};

/* Empties the process's ring into the recording until something ends it. Ctrl-C does if it is not our child. */
enum recorder_end recorder_run(struct recording *recording, const struct target *target,
                               const struct record_options *options, bool is_child, int *status_out,
                               struct gait_error *err);

/* What the manifest says of a recording that ended before its process did. */
const char *recorder_how(enum recorder_end end, const struct gait_error *err);

/* Ends the recording and says what was recorded. */
enum command_status recorder_finish(struct recording *recording, const struct record_options *options, const char *how,
                                    struct gait_error *err);

#endif
