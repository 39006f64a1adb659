/* SPDX-License-Identifier: MIT */
/* What spawn and attach have in common: a process, and those that come from it, are recorded until something ends it.
 */
#ifndef GAIT_CLI_RECORDER_H
#define GAIT_CLI_RECORDER_H

#include "cli/command.h"
#include "cli/options/record_options.h"
#include "inject/target.h"
#include "record/family.h"

#include <stdbool.h>

/* What a command records, and how. */
struct recorder_job {
    const struct record_options *options;
    const char *program; /* what the trace is called after */
    bool is_child;       /* the process is ours, and gait ends as it did */
    int overflow;        /* enum ring_overflow, if the user says nothing */
    /* Begins with the process, which runs when this returns unless it is held. */
    int (*begin)(const struct recorder_job *job, const struct agent_options *agent, struct target *target_out,
                 struct gait_error *err);
    pid_t pid;           /* for attach */
    struct tracee *held; /* the first thread of a process that is to wait for a word; NULL: it runs at once */
};

/* Records it all. The exit status of a process that is ours, as a shell would give it; else that of the command. */
enum command_status recorder_run(const struct command_call *call, const struct recorder_job *job);

/* The agent's options for a command's; `overflow` is what the command does if the user says nothing. */
void recorder_agent_options(const struct record_options *options, int overflow, struct agent_options *agent_out);

/* What the manifest says of how a recording ended; status is the wait status of the first process, or -1. */
const char *recorder_how(enum family_run_end end, int status, const struct gait_error *err);

#endif
