/* SPDX-License-Identifier: MIT */
/* Packing a trace into one file, which trace_unpack.h unpacks. Memory is bounded. One thread at a time. */
#ifndef GAIT_TRACE_TRACE_PACK_H
#define GAIT_TRACE_TRACE_PACK_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stddef.h>
#include <stdint.h>

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

#endif
