/* SPDX-License-Identifier: MIT */
/*
 * Gathers the pieces of a lane that are taken out of the ring every millisecond into chunks that are worth writing and
 * pack well, and marks in them when each piece was taken. What is large goes through at once. One thread at a time.
 */
#ifndef GAIT_RECORD_PIECE_COLLECTOR_H
#define GAIT_RECORD_PIECE_COLLECTOR_H

#include "base/attributes.h"
#include "trace/chunk_encoder.h"

/* All zero is an empty one. */
struct piece_collector {
    struct stream_piece piece; /* what is gathered; its bytes are `bytes`, its marks are `marks` */
    uint8_t *bytes;
    size_t capacity;
    struct trace_mark *marks;
    int64_t began_ns; /* when the first of it came; by the clock of whoever adds */
};

/* Where chunks go. */
struct piece_taker {
    int (*take)(void *context, const struct stream_piece *piece);
    void *context;
};

/* Gives back what it holds; what was gathered and not flushed is gone. */
void piece_collector_deinit(struct piece_collector *collector);

/*
 * Adds a piece, without marks and not empty, of the same lane each time. Hands over what is large enough. -ENOMEM, or
 * what the taker returns: then what was gathered before is still there.
 */
MUST_USE int piece_collector_add(struct piece_collector *collector, const struct stream_piece *piece, int64_t now_ns,
                                 const struct piece_taker *taker);

/* Hands over what there is, if there is something. */
MUST_USE int piece_collector_flush(struct piece_collector *collector, const struct piece_taker *taker);

#endif
