/* SPDX-License-Identifier: MIT */
/* The options that spawn and attach share. Texts point into the arguments. */
#ifndef GAIT_CLI_RECORD_OPTIONS_H
#define GAIT_CLI_RECORD_OPTIONS_H

#include "cli/command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_options {
    const char *output;
    uint32_t events; /* of enum gait_event_kind */
    bool with_times;
    int overflow; /* enum ring_overflow; -1: the command's choice */
    size_t buffer_bytes;
    unsigned duration_seconds; /* 0: until it ends */
    bool compress;
    bool without_children;
    bool is_quiet;
    char **rest; /* what is no option: the program and its arguments, or the pid; ended by NULL */
    int rest_count;
    char **words; /* what rest points into; to be freed */
};

/* COMMAND_DONE, or COMMAND_MISUSED with the error filled in; after both, words is to be freed. */
enum command_status record_options_parse(const struct command_call *call, const char *command,
                                         struct record_options *options_out);

/* The options' part of a command's help. */
#define RECORD_OPTIONS_HELP                                                                                            \
    "  -o, --output DIR    where traces go (./traces); one folder a recording\n"                                       \
    "  --follow EVENTS     none, or some of call,ret,block,exec,compile (call,ret)\n"                                  \
    "  --times             a time stamp on every event\n"                                                              \
    "  --overflow HOW      when events come faster than they are written: drop, or\n"                                  \
    "                      block: the program waits\n"                                                                 \
    "  --buffer SIZE       of each of a thread's four buffers (256K); K and M count\n"                                 \
    "  --duration SEC      ends the recording after that many seconds\n"                                               \
    "  --compress          compresses what is written\n"                                                               \
    "  --children          records processes that are forked, and programs that are\n"                                 \
    "                      executed, too (so it is); --no-children does not\n"                                         \
    "  --quiet             says nothing but errors\n"

#endif
