/* SPDX-License-Identifier: MIT */
/*
 * All calls of a trace by the functions that led to them: a node for each distinct path, with how many calls there were
 * and how long they took themselves. Memory grows with distinct paths. One thread at a time.
 */
#ifndef GAIT_EXPORT_CALL_PATHS_H
#define GAIT_EXPORT_CALL_PATHS_H

#include "base/hash_map.h"
#include "export/export_calls.h"

/* Of deeper calls the outermost ones are kept, and the call itself: recursion has many paths, all alike. */
#define CALL_PATH_MAX  1000u

#define CALL_PATH_NONE UINT32_MAX

struct call_path {
    uint32_t parent;   /* CALL_PATH_NONE: it is the outermost one */
    uint32_t function; /* number */
    size_t thread;     /* index */
    uint64_t call_count;
    uint64_t self_ns;
    uint32_t next; /* for finding it */
};

struct call_paths {
    struct call_path *paths; /* parents come first */
    size_t count;
    size_t capacity;
    uint64_t guessed_count;    /* of calls whose times are guesses */
    uint64_t entry_only_count; /* of calls whose times nobody knows */
    uint64_t gap_count;        /* of places where events are missing */
    uint64_t lost_bytes;
    struct hash_map numbers; /* parent and function, or thread and function -> the last of those that look alike */
};

/*
 * Reads all calls of the job. What could be read is there also after errors, and to be given back with
 * call_paths_deinit, whatever the result is.
 */
MUST_USE int call_paths_read(struct call_paths *paths, const struct export_job *job, struct gait_error *err);
void call_paths_deinit(struct call_paths *paths);

#endif
