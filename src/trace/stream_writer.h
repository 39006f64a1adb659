/* SPDX-License-Identifier: MIT */
/*
 * Writing one stream of a trace. What was put or appended is in the file, whole, when the function returns; the footer
 * comes with stream_writer_close. One thread at a time. Functions return 0 or a negated errno number: -ENOSPC,
 * -EDQUOT, -EFBIG and -EIO leave the file as it was before the chunk, so that it is valid at any time.
 */
#ifndef GAIT_TRACE_STREAM_WRITER_H
#define GAIT_TRACE_STREAM_WRITER_H

#include "base/attributes.h"
#include "trace/chunk_encoder.h"

#include <stdint.h>

struct stream_writer {
    int fd;
    uint64_t sequence; /* of the next chunk */
    uint64_t first_sequence;
    uint64_t raw_bytes;
    uint64_t stored_bytes;
    uint64_t lost_bytes;
    uint64_t file_bytes; /* up to the end of the last whole chunk */
    struct chunk_encoder *encoder;
};

/*
 * Makes the file, in an open folder; -EEXIST: it is there. The header's magic, version and crc are filled in here. The
 * encoder is the caller's, may be shared with other streams, and is needed up to the end. No file is left behind by an
 * error.
 */
MUST_USE int stream_writer_open(struct stream_writer *writer, int folder, const char *name,
                                const struct trace_stream_header *header, struct chunk_encoder *encoder);

/* Before anything is appended: the stream is one that goes on from another file, where it had so many chunks. */
void stream_writer_go_on(struct stream_writer *writer, uint64_t sequence);

/* Encodes and appends a chunk. -EINVAL: more bytes than one can have; -ENOMEM; else what writing gives. */
MUST_USE int stream_writer_put(struct stream_writer *writer, const struct chunk_contents *contents);

/* Appends a chunk that was encoded before, as the next one of this stream. */
MUST_USE int stream_writer_append(struct stream_writer *writer, const struct encoded_chunk *chunk);

/* Writes the footer and closes the file, also after an error. */
MUST_USE int stream_writer_close(struct stream_writer *writer, uint64_t lost_behind);

#endif
