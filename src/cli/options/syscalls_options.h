/* SPDX-License-Identifier: MIT */
/* The options of gait syscalls, which are strace's where strace has them. Plain storage of the caller's. */
#ifndef GAIT_CLI_OPTIONS_SYSCALLS_OPTIONS_H
#define GAIT_CLI_OPTIONS_SYSCALLS_OPTIONS_H

#include "cli/command.h"
#include "syscalls/injection.h"
#include "syscalls/output/call_output.h"
#include "syscalls/output/data_dump.h"
#include "syscalls/output/system_call_counts.h"
#include "syscalls/path_choice.h"
#include "syscalls/system_call_source.h"

#define SYSCALLS_PIDS_MAX      64
#define SYSCALLS_VARIABLES_MAX 64

/* What is asked for instead of watching anything. */
enum syscalls_request {
    SYSCALLS_REQUEST_WATCH,
    SYSCALLS_REQUEST_HELP,
    SYSCALLS_REQUEST_VERSION,
};

struct syscalls_options {
    enum syscalls_request request;
    struct call_output_options output;
    bool follows;
    bool only_counts;
    bool also_counts;
    bool is_json;
    bool has_stacks;
    bool is_debugging; /* says how calls are seen, and why so */
    bool detaches_at_exec;
    unsigned daemon;        /* 0: no; 1: the program is our caller's child; 2: and we have a group, 3: a session */
    unsigned interruptible; /* as strace -I has it; 0: it was not said */
    const char *user;       /* NULL: the program runs as whoever we are */
    const char *variables[SYSCALLS_VARIABLES_MAX]; /* NAME=VALUE, or NAME: it goes */
    size_t variable_count;
    unsigned fd_details; /* enum fd_detail */
    struct system_call_set set;
    struct injections injections;
    struct path_choice paths;
    struct system_call_lines_options lines;
    struct call_text_sets text_sets;
    struct data_dump_sets dumped;
    struct system_call_table_options table;
    const struct system_call_source *source;
    const char *stopping; /* the option for which calls have to be stopped; NULL: there is none */
    int pids[SYSCALLS_PIDS_MAX];
    size_t pid_count;
    char **program; /* NULL: none */
};

/* Reads the call's arguments. COMMAND_MISUSED with the error filled in. The options must not move from then on. */
enum command_status syscalls_options_parse(const struct command_call *call, struct syscalls_options *options_out);

void syscalls_options_deinit(struct syscalls_options *options);

#endif
