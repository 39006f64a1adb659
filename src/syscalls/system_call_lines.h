/* SPDX-License-Identifier: MIT */
/*
 * System calls and signals as lines of text, as strace writes them: a call that another thread's line comes in between
 * of is left <unfinished ...> and taken up again as <... resumed>. One thread at a time.
 */
#ifndef GAIT_SYSCALLS_SYSTEM_CALL_LINES_H
#define GAIT_SYSCALLS_SYSTEM_CALL_LINES_H

#include "syscalls/system_call_text.h"

#include <stdio.h>

enum system_call_times {
    SYSTEM_CALL_TIMES_NONE,
    SYSTEM_CALL_TIMES_SECONDS,      /* 12:34:56 */
    SYSTEM_CALL_TIMES_MICROSECONDS, /* 12:34:56.123456 */
    SYSTEM_CALL_TIMES_SINCE_1970,
    SYSTEM_CALL_TIMES_RELATIVE, /* since the line before */
};

enum system_call_ids {
    SYSTEM_CALL_IDS_WHERE_SEVERAL, /* [pid 1234], as soon as there are two */
    SYSTEM_CALL_IDS_ALWAYS,        /* 1234 in a column */
    SYSTEM_CALL_IDS_NEVER,
};

struct system_call_lines_options {
    struct call_text_options text;
    enum system_call_times times;
    enum system_call_ids ids;
    bool has_durations;
    bool is_quiet; /* says nothing of exits */
    /* Is called behind a call, with what a stack is found by; NULL: no stacks are wanted. */
    void (*put_stack)(FILE *stream, const struct system_call_event *event);
};

struct system_call_lines;

/* The stream stays the caller's. NULL: there is no memory. */
struct system_call_lines *system_call_lines_create(FILE *stream, const struct system_call_lines_options *options);
void system_call_lines_destroy(struct system_call_lines *lines);

/* Writes what the event says. */
void system_call_lines_put(struct system_call_lines *lines, const struct system_call_event *event);

/* Ends a line that is open, since nothing more will come; ` <detached ...>` tells why. */
void system_call_lines_detach(struct system_call_lines *lines);

#endif
