/* SPDX-License-Identifier: MIT */
/* The command line of gait probe. */
#ifndef GAIT_CLI_OPTIONS_PROBE_OPTIONS_H
#define GAIT_CLI_OPTIONS_PROBE_OPTIONS_H

#include "cli/command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct probe_options {
    char **specs; /* in the place of the arguments; NULL behind the last */
    size_t spec_count;
    char **program; /* ended by NULL; NULL: none is to be run */
    pid_t pid;      /* 0: none was given */
    bool is_list;
    bool is_all;
    const char *output; /* a folder for traces; NULL: events are printed */
    const char *condition;
    const char *by;
    const char *measure;
    bool is_counting;
    bool with_stacks;
    bool compress;
    bool is_quiet;
    unsigned interval_seconds;
    unsigned duration_seconds;
    uint64_t limit; /* of events; 0: none */
    size_t buffer_bytes;
};

/* COMMAND_DONE, or COMMAND_MISUSED with the error filled in. The arguments must outlive the options. */
enum command_status probe_options_parse(const struct command_call *call, struct probe_options *options_out);

#endif
