/* SPDX-License-Identifier: MIT */
/* How often system calls were made, how many failed and how long they took, and the table of that. One thread. */
#ifndef GAIT_SYSCALLS_OUTPUT_SYSTEM_CALL_COUNTS_H
#define GAIT_SYSCALLS_OUTPUT_SYSTEM_CALL_COUNTS_H

#include "base/attributes.h"
#include "syscalls/system_call_event.h"

#include <stdbool.h>
#include <stdio.h>

/* What a column shows, and what rows can be sorted by. */
enum system_call_column {
    SYSTEM_CALL_COLUMN_SHARE,
    SYSTEM_CALL_COLUMN_TOTAL,
    SYSTEM_CALL_COLUMN_SHORTEST,
    SYSTEM_CALL_COLUMN_LONGEST,
    SYSTEM_CALL_COLUMN_AVERAGE,
    SYSTEM_CALL_COLUMN_CALLS,
    SYSTEM_CALL_COLUMN_ERRORS,
    SYSTEM_CALL_COLUMN_NAME,
    SYSTEM_CALL_COLUMNS,
};

/* To sort by: the order of numbers. */
#define SYSTEM_CALL_COLUMN_NONE SYSTEM_CALL_COLUMNS

struct system_call_table_options {
    enum system_call_column columns[SYSTEM_CALL_COLUMNS];
    size_t column_count;
    enum system_call_column sort;
    bool is_wall_clock;   /* from the beginning to the end of calls, not what the CPU worked for them */
    uint64_t overhead_ns; /* of seeing a call: less is counted of each */
};

struct system_call_count {
    uint64_t calls;
    uint64_t errors;
    uint64_t total_ns;
    uint64_t shortest_ns;
    uint64_t longest_ns;
};

struct system_call_counts {
    struct system_call_table_options options;
    struct system_call_count by_number[SYSTEM_CALL_NUMBERS + 1]; /* the last is for all others */
};

/* As strace has it without options: by time; all columns but the shortest and the longest. */
void system_call_table_options_init(struct system_call_table_options *options);

/* Read "calls", "time" and the like, and lists of such words with commas. -EINVAL: there is no such word. */
MUST_USE int system_call_table_parse_sort(const char *text, struct system_call_table_options *options);
MUST_USE int system_call_table_parse_columns(const char *text, struct system_call_table_options *options);

/* Takes in a call that has ended; other events are ignored. */
void system_call_counts_add(struct system_call_counts *counts, const struct system_call_event *event);

/* The table, as the options say. */
void system_call_counts_put(const struct system_call_counts *counts, FILE *stream);

/* The same as a list of objects. */
void system_call_counts_put_json(const struct system_call_counts *counts, FILE *stream);

#endif
