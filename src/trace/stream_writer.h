/* SPDX-License-Identifier: MIT */
/*
 * Writing one stream of a trace. What was written by stream_writer_put is in the file, whole, when it returns; the
 * footer comes with stream_writer_close. One thread at a time. Functions return 0 or a negated errno number: -ENOSPC,
 * -EDQUOT, -EFBIG and -EIO leave the file as it was before the chunk, so that it is valid at any time.
 */
#ifndef GAIT_TRACE_STREAM_WRITER_H
#define GAIT_TRACE_STREAM_WRITER_H

#include "base/attributes.h"
#include "trace/trace_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct compressor;

struct stream_writer {
    int fd;
    bool is_compressed;
    uint64_t sequence;
    uint64_t raw_bytes;
    uint64_t stored_bytes;
    uint64_t lost_bytes;
    uint64_t file_bytes;           /* up to the end of the last whole chunk */
    struct compressor *compressor; /* NULL: none */
};

/* What a chunk has besides its bytes. */
struct stream_piece {
    const void *bytes;
    size_t size_bytes; /* whole records, at most 64 MiB */
    uint64_t first_time;
    uint64_t last_time;
    uint64_t lost_before;
    bool has_gap_before; /* records before it were left out, since nobody asked for them */
};

/*
 * Makes the file, in an open folder; -EEXIST: it is there. The header's magic, version and crc are filled in here.
 * -EOPNOTSUPP: this build cannot compress. No file is left behind by an error.
 */
MUST_USE int stream_writer_open(struct stream_writer *writer, int folder, const char *name,
                                const struct trace_stream_header *header, bool compress);

/* -EINVAL: more bytes than a chunk can have; -ENOMEM; else what writing gives. */
MUST_USE int stream_writer_put(struct stream_writer *writer, const struct stream_piece *piece);

/* Writes the footer and closes the file, also after an error. */
MUST_USE int stream_writer_close(struct stream_writer *writer, uint64_t lost_behind);

#endif
