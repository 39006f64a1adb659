/* SPDX-License-Identifier: MIT */
/*
 * Gathers the batches of a lane that are taken out of the ring every millisecond into chunks that are worth writing and
 * pack well, and marks in them when each batch was taken. What is large goes through at once. One thread at a time.
 */
#ifndef GAIT_RECORD_CHUNK_COLLECTOR_H
#define GAIT_RECORD_CHUNK_COLLECTOR_H

#include "base/attributes.h"
#include "trace/chunk_encoder.h"

/* All zero is an empty one. */
struct chunk_collector {
    struct chunk_contents contents; /* what is gathered; its bytes are `bytes`, its marks are `marks` */
    uint8_t *bytes;
    size_t capacity;
    struct trace_mark *marks;
    int64_t began_ns; /* when the first of it came; by the clock of the caller */
};

/* Where chunks go. */
struct chunk_taker {
    int (*take)(void *context, const struct chunk_contents *contents);
    void *context;
};

/* Gives back what it holds; what was gathered and not flushed is gone. */
void chunk_collector_deinit(struct chunk_collector *collector);

/*
 * Adds records, without marks and not empty, of the same lane each time. Hands over what is large enough. -ENOMEM, or
 * what the taker returns: then what was gathered before is still there, and what was to be added is not.
 */
MUST_USE int chunk_collector_add(struct chunk_collector *collector, const struct chunk_contents *contents,
                                 int64_t now_ns, const struct chunk_taker *taker);

/* Hands over what there is, if there is something. */
MUST_USE int chunk_collector_flush(struct chunk_collector *collector, const struct chunk_taker *taker);

#endif
