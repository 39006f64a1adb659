/* SPDX-License-Identifier: MIT */
/* Asking the recording that a process is part of. */
#ifndef GAIT_CLI_CONTROL_CLIENT_H
#define GAIT_CLI_CONTROL_CLIENT_H

#include "base/attributes.h"
#include "cli/command.h"
#include "record/control_layout.h"

#include <sys/types.h>

struct control_question {
    enum control_operation operation;
    pid_t pid;
    const char *note; /* of a trigger, cut off where it is too long; NULL: none */
};

/*
 * Finds the recording, asks, and waits for the last answer. -ESRCH: there is no such process; -ENOENT: it is not
 * recorded; -EPERM: by another user; -ETIMEDOUT: the recording does not answer; what the recording says.
 */
MUST_USE int control_client_ask(const struct control_question *question, struct control_answer *answer_out,
                                struct gait_error *err);

/* Adds to an error, that the process is recorded already, where the trace of it is. Nothing, if that is not known. */
void control_client_name_trace(pid_t pid, struct gait_error *err);

/* Reads the pid that a command was given. COMMAND_DONE, or COMMAND_MISUSED and the error. */
enum command_status control_client_read_pid(const struct command_call *call, const char *command, const char *text,
                                            pid_t *pid_out);

#endif
