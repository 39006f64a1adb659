/* SPDX-License-Identifier: MIT */
/*
 * The contract for formats that a trace can be turned into. A format is one line in export_formats.def and one file
 * <name>.c, which defines `const struct export_format export_format_<name>`; docs/howto/add_export_format.md shows how.
 * Memory must not grow with the number of events: what was read is written.
 */
#ifndef GAIT_EXPORT_EXPORT_FORMAT_H
#define GAIT_EXPORT_EXPORT_FORMAT_H

#include "base/attributes.h"
#include "gait/error.h"
#include "view/view_functions.h"
#include "view/view_trace.h"

#include <stdio.h>

enum export_kind {
    EXPORT_TEXT,   /* to a stream */
    EXPORT_BINARY, /* to a stream that is no terminal */
    EXPORT_PATH,   /* the format makes the file or folder itself */
};

/* What is to be written, and where. All of it is the caller's. */
struct export_job {
    const struct view_trace *trace;
    struct view_functions *functions;
    const size_t *threads; /* indexes of those that are wanted, in the trace's order */
    size_t thread_count;
    size_t silent_count;       /* of those behind them, which have details and system calls only */
    const char *const *wanted; /* as they were asked for, for those that only the kernel tells of */
    size_t wanted_count;       /* 0: all are wanted */
    uint64_t from_ns;          /* since the recording began; what was before is left out */
    uint64_t to_ns;            /* what is later, too; UINT64_MAX: nothing is */
    bool has_events;           /* they are wanted one by one, too, if the format can have them */
    FILE *stream;              /* NULL for EXPORT_PATH */
    const char *path;          /* of the output; NULL: the stream is standard output */
};

struct export_format {
    const char *name;
    const char *file_name; /* that people usually give it: "trace.json" */
    enum export_kind kind;
    bool can_have_events; /* one by one, besides calls */
    /* All that can be read is written, also after an error, which is the first one. Whether the stream took it all is
     * looked at by the caller. */
    MUST_USE int (*write)(const struct export_job *job, struct gait_error *err);
};

/* The list of all formats: number `which`, in the order of export_formats.def; NULL behind the last. */
const struct export_format *export_formats_get(size_t which);

/* NULL: there is none of that name. */
const struct export_format *export_formats_find(const char *name);

#endif
