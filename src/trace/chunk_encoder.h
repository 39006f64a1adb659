/* SPDX-License-Identifier: MIT */
/*
 * Turning contents into chunks, in memory. What comes out can be appended to a stream (stream_writer_append) now, later
 * or never. Nothing is kept from one chunk to the next, so one encoder serves any number of streams. One thread at a
 * time for each encoder.
 */
#ifndef GAIT_TRACE_CHUNK_ENCODER_H
#define GAIT_TRACE_CHUNK_ENCODER_H

#include "base/attributes.h"
#include "ring/event_record.h"
#include "trace/trace_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chunk_encoder;

/* The contents of a chunk, and what is to be said of them. */
struct chunk_contents {
    const void *bytes;
    size_t size_bytes; /* whole records, at most 64 MiB */
    uint64_t first_time;
    uint64_t last_time;
    uint64_t lost_before;
    const struct trace_mark *marks; /* in order; at most TRACE_MARKS_MAX */
    uint32_t mark_count;
    bool has_records; /* of that format: they are packed, and counted */
    struct event_format format;
    size_t unpacked_bytes; /* not 0: the bytes are packed already, to less than these (kernel_packing.h) */
    uint64_t record_count; /* of what else is in it */
};

/*
 * A chunk as it will stand in a file, but for header.sequence and header.crc, which it gets when it is appended. To
 * keep one, copy header.stored_bytes of what is at `stored`.
 */
struct encoded_chunk {
    struct trace_chunk header;
    const void *stored;
    uint64_t record_count;
};

/* -ENOMEM; -EOPNOTSUPP: this build cannot compress. */
MUST_USE int chunk_encoder_create(bool compress, struct chunk_encoder **encoder_out);
/* NULL is fine. */
void chunk_encoder_destroy(struct chunk_encoder *encoder);

/*
 * What is stored is the encoder's until it is used again, or those of the contents. -EINVAL: more bytes, or
 * marks, than a chunk can have; -ENOMEM.
 */
MUST_USE int chunk_encoder_run(struct chunk_encoder *encoder, const struct chunk_contents *contents,
                               struct encoded_chunk *chunk_out);

#endif
