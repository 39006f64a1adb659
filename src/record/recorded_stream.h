/* SPDX-License-Identifier: MIT */
/*
 * The stream of one lane of a thread, from its first record to its last. The file is made when something is to be
 * written; until then, and between windows, pieces may be kept in memory (record/kept_pieces.h), which hold the stream.
 */
#ifndef GAIT_RECORD_RECORDED_STREAM_H
#define GAIT_RECORD_RECORDED_STREAM_H

#include "base/attributes.h"
#include "trace/stream_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORDED_STREAM_NAME_BYTES 64

/* What a stream is to be called, and of. */
struct recorded_stream_plan {
    int folder;
    struct chunk_encoder *encoder;
    struct trace_stream_header header;
    char name[RECORDED_STREAM_NAME_BYTES];
};

struct recorded_stream {
    struct recorded_stream *next; /* of its process */
    struct recorded_stream_plan plan;
    struct stream_writer writer;
    bool is_open;
    bool is_ended; /* the thread writes no more */
    bool has_gap;  /* pieces were left out since the last one that was written */
    uint64_t lost_behind;
    uint64_t written_bytes; /* of records */
    uint64_t written_count; /* of them */
    size_t kept_count;      /* of its pieces in memory */
};

/* -ENOMEM. The folder must stay open. */
MUST_USE int recorded_stream_create(const struct recorded_stream_plan *plan, struct recorded_stream **stream_out);

/* None of its pieces may be in memory. NULL is fine; the file was closed before. */
void recorded_stream_destroy(struct recorded_stream *stream);

/* Makes the file, if there is none yet. */
MUST_USE int recorded_stream_open(struct recorded_stream *stream);

/* Writes a piece, behind a gap if something was left out before it. */
MUST_USE int recorded_stream_put(struct recorded_stream *stream, const struct stream_piece *piece);

/* The same for one that was encoded before. */
MUST_USE int recorded_stream_append(struct recorded_stream *stream, const struct encoded_chunk *chunk);

/* Something is not written. */
void recorded_stream_leave_out(struct recorded_stream *stream);

/* Ends the file, if there is one. */
MUST_USE int recorded_stream_close(struct recorded_stream *stream);

#endif
