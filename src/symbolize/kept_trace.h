/* SPDX-License-Identifier: MIT */
/*
 * Keeping in a trace what is needed to name its functions: of each file that was mapped with code, once, whichever and
 * however many processes had it. The events are not looked at. One thread at a time.
 */
#ifndef GAIT_SYMBOLIZE_KEPT_TRACE_H
#define GAIT_SYMBOLIZE_KEPT_TRACE_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stddef.h>
#include <stdint.h>

struct foreign_roots;
struct recorded_module;
struct trace_files;

struct kept_outcome {
    size_t kept_count;     /* files whose names are there now, and were not before */
    size_t function_count; /* of these */
    uint64_t file_bytes;   /* of what was written */
    size_t left_count;     /* files whose names cannot be had, as they are gone or have changed */
};

/*
 * Writes the names that the trace lacks into an open folder, which is that of the trace or another one. Files that are
 * not here are looked for where the processes did (NULL: nowhere else). Who cannot be named is only counted. Explains
 * errors: no room, no memory; what was written by then stays.
 */
MUST_USE int kept_trace_write(const struct trace_files *files, int folder, const struct foreign_roots *roots,
                              struct kept_outcome *outcome_out, struct gait_error *err);

/*
 * Calls `visit` for one module of each file that was mapped; others with the same build ID are passed over. Stops at
 * what is not 0, and returns that. What cannot be read of the trace is passed over, too. -ENOMEM.
 */
MUST_USE int kept_trace_visit(const struct trace_files *files,
                              int (*visit)(void *context, const struct recorded_module *module), void *context);

#endif
