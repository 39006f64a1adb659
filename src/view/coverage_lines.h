/* SPDX-License-Identifier: MIT */
/*
 * Which lines of the source ran, and how often, and where in the source functions begin, by the line tables of files
 * that have them. A line ran as often as the piece of its code that ran most; of several files, all of them count.
 * Memory grows with lines. One thread at a time.
 */
#ifndef GAIT_VIEW_COVERAGE_LINES_H
#define GAIT_VIEW_COVERAGE_LINES_H

#include "base/hash_map.h"
#include "view/coverage.h"

struct coverage_line {
    uint32_t source;   /* index */
    uint32_t line;     /* from 1 on */
    uint64_t count;    /* 0: it did not run */
    uint64_t here;     /* the same in the file that is read, or was last */
    uint32_t read_for; /* which file that is */
};

struct coverage_source_function {
    uint32_t source;
    uint32_t line;
    const struct coverage_function *function;
};

struct coverage_source {
    char *path;
    size_t first_line; /* after sorting: indexes of its lines and functions, in their order */
    size_t line_count;
    size_t executed_lines;
    size_t first_function;
    size_t function_count;
    size_t executed_functions;
    uint32_t next; /* for finding it */
};

struct coverage_lines {
    struct coverage_source *sources; /* after sorting: by path */
    size_t source_count;
    size_t source_capacity;
    struct coverage_line *lines;
    size_t line_count;
    size_t line_capacity;
    struct coverage_source_function *functions;
    size_t function_count;
    size_t function_capacity;
    struct hash_map source_numbers; /* hash of the path -> the last of those with that hash */
    struct hash_map line_numbers;   /* source and line */
    uint32_t file_count;            /* that were read */
};

/*
 * Reads the line tables of all files of the coverage that are as recorded and of which something ran; it must outlive
 * this. Only lines of functions that the filter wants count; NULL: all. 0, also if none has such a table: then there
 * are no sources; -ENOMEM. To be given back whatever the result is.
 */
MUST_USE int coverage_lines_read(struct coverage_lines *lines, const struct coverage *coverage,
                                 const struct coverage_filter *filter);
void coverage_lines_deinit(struct coverage_lines *lines);

#endif
