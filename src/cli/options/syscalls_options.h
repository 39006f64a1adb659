/* SPDX-License-Identifier: MIT */
/* The options of gait syscalls, which are strace's where strace has them. Plain storage of the caller's. */
#ifndef GAIT_CLI_OPTIONS_SYSCALLS_OPTIONS_H
#define GAIT_CLI_OPTIONS_SYSCALLS_OPTIONS_H

#include "cli/command.h"
#include "syscalls/injection.h"
#include "syscalls/system_call_lines.h"
#include "syscalls/system_call_source.h"

#define SYSCALLS_PIDS_MAX 64

struct syscalls_options {
    const char *output; /* file to write to; NULL: standard error */
    bool follows;
    bool only_counts;
    bool also_counts;
    bool is_json;
    bool has_stacks;
    struct system_call_set set;
    struct injections injections;
    struct system_call_lines_options lines;
    const struct system_call_source *source;
    int pids[SYSCALLS_PIDS_MAX];
    size_t pid_count;
    char **program; /* NULL: none */
};

/* Reads the call's arguments. COMMAND_MISUSED with the error filled in. */
enum command_status syscalls_options_parse(const struct command_call *call, struct syscalls_options *options_out);

#endif
