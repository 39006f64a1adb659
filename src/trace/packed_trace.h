/* SPDX-License-Identifier: MIT */
/* A trace in one file. Memory is bounded. One thread at a time. */
#ifndef GAIT_TRACE_PACKED_TRACE_H
#define GAIT_TRACE_PACKED_TRACE_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stddef.h>
#include <stdint.h>

struct temporary_folder;

/* A file that goes into it. */
struct packed_file {
    int folder;
    const char *path; /* in that folder, and in the trace */
};

struct packed_amount {
    uint64_t file_bytes;   /* of all files */
    uint64_t packed_bytes; /* of the one that was made */
};

/* Writes all of it, or nothing: also what is there under that name is left as it is. Explains errors. */
MUST_USE int trace_pack_write(const char *path, const struct packed_file *files, size_t count,
                              struct packed_amount *amount_out, struct gait_error *err);

/*
 * Unpacking trusts nothing: only files that belong to a trace are written, none outside of the folder, none twice, and
 * no more bytes than the file says and there is room for.
 */

/* Into an open folder that is empty. Explains errors; what was written by then is left. */
MUST_USE int trace_unpack_to(const char *path, int folder, struct gait_error *err);

/*
 * Into a temporary folder, which is the caller's to remove, and is also opened. Explains errors, such as that it is no
 * packed trace; there is no folder then.
 */
MUST_USE int trace_unpack_open(const char *path, struct temporary_folder **unpacked_out, int *folder_out,
                               struct gait_error *err);

#endif
