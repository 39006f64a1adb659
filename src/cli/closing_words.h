/* SPDX-License-Identifier: MIT */
/* What is said when a recording is over: how much there is, of how long, where, and what is missing. */
#ifndef GAIT_CLI_CLOSING_WORDS_H
#define GAIT_CLI_CLOSING_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct recording_unhooked;
struct recording_unwritten;

struct closing_words {
    const char *path; /* of the trace */
    uint64_t event_count;
    uint64_t file_bytes;
    uint64_t duration_ns;
    uint64_t lost_bytes;
    uint64_t unwritten_bytes;                    /* the part of it that could not be written, */
    size_t unwritten_count;                      /* of so many threads, */
    const struct recording_unwritten *unwritten; /* the first of them; as struct recording has it */
    size_t unhooked_count; /* functions that somebody asked for, and that are not hooked: these, */
    const struct recording_unhooked *unhooked;
    bool has_more_unhooked; /* and others */
    bool is_cut;            /* something went wrong, so that it ended before it was to */
    uint64_t wait_count;    /* how often threads waited for the disk */
    uint64_t waited_ns;
    uint32_t deleted_pieces; /* the oldest, of a recording in pieces */
    uint64_t left_count;     /* of threads that went on without being followed */
};

/* A line, and one more if something was lost. */
void closing_words_say(const struct closing_words *words, FILE *stream);

/* Whether threads waited, in a line. */
void closing_words_say_waits(const struct closing_words *words, FILE *stream);

#endif
