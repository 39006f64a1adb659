/* SPDX-License-Identifier: MIT */
/*
 * Which lines of which sources the code of a program or library comes from: its units, each made into a table when
 * an address in it is asked for, or taken out of the cache. One thread at a time, which may start others.
 */
#ifndef GAIT_SYMBOLIZE_SOURCE_LINES_H
#define GAIT_SYMBOLIZE_SOURCE_LINES_H

#include "symbolize/code_table.h"
#include "symbolize/code_table_cache.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_code;
struct symbolizer_watch;

struct source_lines {
    const char *path;
    const char *debug_folders;
    struct code_table_cache_name name;
    bool is_looked_up;                    /* whether there are units is known */
    struct code_units units;              /* which unit has which code, and the tables so far */
    struct code_units former;             /* as the cache had them, which turned out to be wrong */
    struct dwarf_code *code;              /* opened when it is needed */
    bool has_no_code;                     /* that was tried, and there is none */
    int cache_fd;                         /* -1: nothing is kept */
    bool has_new;                         /* something should be kept */
    const struct symbolizer_watch *watch; /* who is told how far it is; NULL: nobody */
    size_t made_count;                    /* tables that were made, one by one */
};

/*
 * Of the file at that path, with debug information as dwarf_code_open finds it. What was found before is taken from the
 * cache that is named. All of them must outlive it. Reads nothing yet.
 */
void source_lines_open(struct source_lines *lines, const char *path, const char *debug_folders,
                       struct code_table_cache_name name);

/* Keeps what is new, if there is a cache. */
void source_lines_close(struct source_lines *lines);

/* What is known of an address. */
struct source_place {
    const struct code_table *table;
    const struct code_scope *scope; /* the innermost; NULL: none */
    const struct code_line *line;   /* NULL: none */
};

/* Of an address as the file has it. False: nothing is known. All that is found stays until it is closed. */
bool source_lines_find(struct source_lines *lines, uint64_t address, struct source_place *place_out);

/* Makes the tables for all those addresses, by at most so many threads. */
void source_lines_prepare(struct source_lines *lines, const uint64_t *addresses, size_t count, unsigned thread_count);

#endif
