/* SPDX-License-Identifier: MIT */
/*
 * The stream of one lane of a thread, from its first record to its last. What comes out of the ring is gathered for
 * some milliseconds and then written. The file is made when something is to be written; until then, and between
 * windows, chunks may be kept in memory (record/kept_chunks.h), which hold the stream. Where the recording is one of
 * several pieces (record/rotation.h), it has a file in each in which it has something.
 */
#ifndef GAIT_RECORD_RECORDED_STREAM_H
#define GAIT_RECORD_RECORDED_STREAM_H

#include "base/attributes.h"
#include "record/chunk_collector.h"
#include "trace/stream_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a stream is of, and where it is to be written. */
struct recorded_stream_plan {
    int folder;
    struct chunk_encoder *encoder;
    struct trace_stream_header header; /* of an index or of details; the file is called after it */
    uint32_t piece;                    /* of the recording, in which it begins; 0 is 1 */
    size_t thread;                     /* in the manifest's list */
    uint32_t lane;                     /* of the ring, */
    uint32_t lane_generation;          /* and which of the threads that had it */
};

struct recorded_stream {
    struct recorded_stream *next; /* of its process */
    struct recorded_stream_plan plan;
    struct stream_writer writer;
    struct chunk_collector collector; /* what is to be written soon */
    bool is_fed;                      /* something came since it was last looked at whether that waited long enough */
    bool is_open;
    bool is_ended;       /* the thread writes no more */
    bool has_gap;        /* chunks were left out since the last one that was written */
    uint32_t piece;      /* whose file is written, or will be */
    uint64_t sequence;   /* of the next chunk, where no file is open */
    uint64_t file_bytes; /* of files that are closed */
    uint64_t lost_behind;
    uint64_t written_bytes; /* of records */
    uint64_t written_count; /* of them */
    uint64_t unwritten_bytes; /* of records that were to be written, and are lost */
    size_t kept_count;      /* of its chunks in memory */
    uint64_t wait_count;    /* of what the lane says that its thread waited, what was noted */
    uint64_t waited_ns;
};

/* -ENOMEM. The folder must stay open. */
MUST_USE int recorded_stream_create(const struct recorded_stream_plan *plan, struct recorded_stream **stream_out);

/* None of its chunks may be in memory. NULL is fine; the file was closed before. */
void recorded_stream_destroy(struct recorded_stream *stream);

/* Makes the file, if there is none yet. */
MUST_USE int recorded_stream_open(struct recorded_stream *stream);

/* Adds to what is to be written, and writes that if it is much. The time is of a clock that does not jump. */
MUST_USE int recorded_stream_gather(struct recorded_stream *stream, const struct chunk_contents *contents,
                                    int64_t now_ns);

/* Writes what was gathered, if no more came since this was called last, or when it has waited long enough. */
MUST_USE int recorded_stream_flush(struct recorded_stream *stream, int64_t now_ns);

/* The thread writes no more: writes what was gathered, or loses it. */
MUST_USE int recorded_stream_finish(struct recorded_stream *stream, uint64_t lost_behind);

/* Writes a chunk at once, behind a gap if something was left out before it. */
MUST_USE int recorded_stream_put(struct recorded_stream *stream, const struct chunk_contents *contents);

/* The same for one that was encoded before. */
MUST_USE int recorded_stream_append(struct recorded_stream *stream, const struct encoded_chunk *chunk);

/* What comes from now on is for another piece, and goes to another file. */
MUST_USE int recorded_stream_turn(struct recorded_stream *stream, uint32_t piece);

/* Bytes of all its files. */
uint64_t recorded_stream_file_bytes(const struct recorded_stream *stream);

/* Something is not written, since nobody wants it. */
void recorded_stream_leave_out(struct recorded_stream *stream);

/* Records of that size are not written, since that is not possible. */
void recorded_stream_lose(struct recorded_stream *stream, uint64_t size_bytes);

/* Ends the file, if there is one; what was gathered and never finished is lost. */
MUST_USE int recorded_stream_close(struct recorded_stream *stream);

#endif
