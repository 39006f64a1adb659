/* SPDX-License-Identifier: MIT */
/*
 * Records that were drained from rings and may be wanted yet: of all streams of a recording, in the order in which they
 * came. The oldest go when they are too old, or when all of them take too much memory. One thread at a time.
 */
#ifndef GAIT_RECORD_KEPT_CHUNKS_H
#define GAIT_RECORD_KEPT_CHUNKS_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>

struct kept_chunk;
struct recorded_stream;
struct chunk_contents;

struct kept_chunks {
    struct kept_chunk *first; /* the oldest */
    struct kept_chunk *last;
    size_t memory_bytes; /* that all of them take */
    size_t memory_bytes_max;
    uint64_t aged_until;    /* the counter: what came before that was too old, and may be gone */
    uint64_t crowded_until; /* the same of what was not too old, but for which there was no memory */
};

/* Empty, to take that much memory at most. */
void kept_chunks_init(struct kept_chunks *chunks, size_t memory_bytes_max);
/* Drops all of them. */
void kept_chunks_deinit(struct kept_chunks *chunks);

/*
 * Keeps one, encoded, and makes room for it. One for which there is no memory at all is dropped. Errors are those of
 * encoding.
 */
MUST_USE int kept_chunks_add(struct kept_chunks *chunks, struct recorded_stream *stream,
                             const struct chunk_contents *contents);

/* Drops those that ended before that time. */
void kept_chunks_age(struct kept_chunks *chunks, uint64_t oldest);

/*
 * Writes those that reach into a time, and drops those before it. An error ends it; those that were not written are
 * kept.
 */
MUST_USE int kept_chunks_write(struct kept_chunks *chunks, uint64_t from, uint64_t to);

/* The same where nothing can be written: those are lost to their streams. */
void kept_chunks_lose(struct kept_chunks *chunks, uint64_t from, uint64_t to);

/* Drops all of a stream. */
void kept_chunks_forget(struct kept_chunks *chunks, const struct recorded_stream *stream);

#endif
