/* SPDX-License-Identifier: MIT */
/* Events out of a ring: its records, decoded as they come. One thread at a time. */
#ifndef GAIT_RING_RING_EVENTS_H
#define GAIT_RING_RING_EVENTS_H

#include "base/attributes.h"
#include "base/hash_map.h"
#include "base/slab.h"
#include "ring/event_decoder.h"
#include "ring/ring_reader.h"

#include <stddef.h>
#include <stdint.h>

/* A lane's decoder. */
struct ring_lane_events {
    struct event_decoder decoder;
    uint32_t generation; /* 0: none yet */
    uint32_t space;
};

struct ring_events {
    struct ring_reader *reader;
    struct hash_map blocks; /* space and number to struct ring_block */
    struct slab block_memory;
    struct ring_lane_events *lanes;
    size_t lane_capacity;
};

/* As ring_reader_open. */
MUST_USE int ring_events_open(int fd, struct ring_events **events_out);
void ring_events_close(struct ring_events *events);

/*
 * Hands all that is written, and was not read before, to the receiver: each thread's in order. Nonzero of the receiver
 * ends it for that thread. Errors as ring_reader_take.
 */
MUST_USE int ring_events_drain(struct ring_events *events, const struct event_receiver *receiver);

#endif
