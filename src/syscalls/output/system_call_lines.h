/* SPDX-License-Identifier: MIT */
/*
 * System calls and signals as lines of text, as strace writes them: a call that another thread's line comes in between
 * of is left <unfinished ...> and taken up again as <... resumed>. One thread at a time.
 */
#ifndef GAIT_SYSCALLS_OUTPUT_SYSTEM_CALL_LINES_H
#define GAIT_SYSCALLS_OUTPUT_SYSTEM_CALL_LINES_H

#include "syscalls/output/system_call_filter.h"
#include "syscalls/system_call_text.h"

#include <stdio.h>

struct data_dump_sets;

enum system_call_times {
    SYSTEM_CALL_TIMES_NONE,
    SYSTEM_CALL_TIMES_OF_DAY, /* 12:34:56 */
    SYSTEM_CALL_TIMES_SINCE_1970,
};

enum system_call_ids {
    SYSTEM_CALL_IDS_WHERE_SEVERAL, /* [pid 1234], as soon as there are two */
    SYSTEM_CALL_IDS_ALWAYS,        /* 1234 in a column */
    SYSTEM_CALL_IDS_NEVER,
};

struct system_call_lines_options {
    struct call_text_options text;
    struct system_call_filter filter;
    enum system_call_times times;
    unsigned time_digits; /* behind the point: 0, 3, 6 or 9 */
    bool is_relative;     /* the time since the line before */
    unsigned relative_digits;
    bool has_durations;
    unsigned duration_digits;
    enum system_call_ids ids;
    bool has_names;                      /* of programs, behind ids */
    bool has_numbers;                    /* of calls */
    bool has_places;                     /* where calls are made */
    unsigned result_column;              /* where results begin, if there is room */
    bool hides_ends;                     /* of threads and processes */
    bool hides_replacements;             /* of one thread by another, which executes a program */
    const struct data_dump_sets *dumped; /* of what is read and written; NULL: nothing */
    /* Is called behind a call, with what a stack is found by; NULL: no stacks are wanted. */
    void (*put_stack)(FILE *stream, const struct system_call_event *event);
};

struct system_call_lines;

/* The stream stays the caller's. NULL: there is no memory. */
struct system_call_lines *system_call_lines_create(FILE *stream, const struct system_call_lines_options *options);
void system_call_lines_destroy(struct system_call_lines *lines);

/* From now on lines go there. To be called between lines only, or with all of them to one thread. */
void system_call_lines_turn_to(struct system_call_lines *lines, FILE *stream);

/* Writes what the event says. A call whose end decides whether it is shown is written when it ends. */
void system_call_lines_put(struct system_call_lines *lines, const struct system_call_event *event);

/* Ends a line that is open, since nothing more will come; ` <detached ...>` tells why. */
void system_call_lines_detach(struct system_call_lines *lines);

#endif
