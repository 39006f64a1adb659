/* SPDX-License-Identifier: MIT */
/*
 * The other side of a ring, in the same process or another: finds what was written, also by a process that was killed,
 * and turns it into events. Trusts nothing that it finds. One thread at a time; one reader for each ring.
 */
#ifndef GAIT_RING_RING_READER_H
#define GAIT_RING_RING_READER_H

#include "base/attributes.h"
#include "base/hash_map.h"
#include "base/slab.h"
#include "ring/event_decoder.h"
#include "ring/ring_layout.h"

#include <stddef.h>
#include <stdint.h>

/* What the reader knows of a lane. */
struct ring_lane_progress {
    struct event_decoder decoder;
    uint32_t generation; /* 0: nothing yet */
    uint32_t space;
    uint64_t sequence; /* of the buffer that is read next */
    uint64_t taken_bytes;
    bool is_broken; /* it holds what is no record: nothing is read any more */
};

struct ring_reader {
    uint8_t *base;
    size_t bytes;
    struct ring_header header; /* as it was checked */
    struct hash_map blocks;    /* space and number to struct ring_block */
    struct slab block_memory;
    uint64_t blocks_read;
    struct ring_lane_progress *lanes;
    uint32_t lane_capacity;
    uint8_t *copy; /* of a buffer that may be overwritten */
    uint64_t lost_bytes;
    uint32_t activity_seen; /* the header's, before the last drain */
    uint32_t broken_count;
};

/*
 * Maps the ring that a descriptor stands for; the descriptor is not kept. -EINVAL: it is no ring, or one of another
 * version; -EPERM: its size may change; -ENOMEM, and what mmap gives. The caller owns the reader.
 */
MUST_USE int ring_reader_open(int fd, struct ring_reader **reader_out);
void ring_reader_close(struct ring_reader *reader);

/*
 * Hands all that is written, and was not read before, to the receiver: each thread's in order. Nonzero of the receiver
 * ends it for that thread. -ENOMEM: not all was read; -EPROTO: a lane holds what no writer writes, and is left alone.
 */
MUST_USE int ring_reader_drain(struct ring_reader *reader, const struct event_receiver *receiver);

/*
 * Sleeps until something is full, or a thread has ended, since the last drain; at most that long. A buffer that is not
 * full makes no noise: whoever wants to see events soon drains again from time to time.
 */
void ring_reader_wait(struct ring_reader *reader, unsigned timeout_ms);

/* Bytes of records that were dropped, or overwritten before they were read. */
uint64_t ring_reader_lost(const struct ring_reader *reader);

#endif
