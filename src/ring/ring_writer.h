/* SPDX-License-Identifier: MIT */
/*
 * One thread's lane, from the side that writes. Belongs to that thread; others may use it while the thread is stopped.
 */
#ifndef GAIT_RING_RING_WRITER_H
#define GAIT_RING_RING_WRITER_H

#include "base/attributes.h"
#include "ring/ring_region.h"

#include <stdbool.h>
#include <stdint.h>

/* Whose records a lane has. */
struct ring_lane_owner {
    uint32_t tid;
    uint32_t events;
    uint32_t space;
    bool with_times;
    bool is_whole; /* the thread is followed from its first instruction on */
    enum ring_lane_kind kind;
    uint32_t serial; /* of the thread, if it has a lane already; 0: it has none */
};

/* Where records go: from `start` on, until the position is at `end` or behind it. */
struct ring_writer {
    struct ring_region *region;
    struct ring_lane *lane; /* NULL: there was none left, all is dropped */
    uint8_t *first_unit;
    uint64_t sequence;
    uint64_t start;
    uint64_t end;
    uint32_t serial; /* of the thread */
    bool is_dropping;
    uint64_t dropped_bytes;  /* since then */
    uint32_t last_heartbeat; /* of the reader, when it was last waited for */
};

/* Takes a lane. -ENOMEM; that no lane is free is no error, but counted for every record. The caller owns it. */
MUST_USE int ring_writer_open(struct ring_region *region, const struct ring_lane_owner *owner,
                              struct ring_writer **writer_out);

/* Forgets the lane that it had, which is another process's, and takes one of the region. */
void ring_writer_begin(struct ring_writer *writer, struct ring_region *region, const struct ring_lane_owner *owner);

/* What is written first happened at that time, before the lane was taken. Nothing was written yet. */
void ring_writer_begin_earlier(struct ring_writer *writer, uint64_t time);

/* The owner has another thread id now: it was just made. */
void ring_writer_set_tid(struct ring_writer *writer, uint32_t tid);

/* The owner was named anew; the name has at most 16 bytes with its NUL. */
void ring_writer_set_name(struct ring_writer *writer, const char *name);

/* In a child that was just forked: gives back the writer of a thread that is not there; its lane is the parent's. */
void ring_writer_forget(struct ring_writer *writer);

/*
 * Goes to the next buffer: this one is full up to `position`. With RING_BLOCK it waits for room, unless *give_up is or
 * becomes nonzero. Returns how many bytes of records were dropped.
 */
MUST_USE uint64_t ring_writer_next(struct ring_writer *writer, uint64_t position, const _Atomic uint32_t *give_up);

/* No more will be written; `position` is where the last record ends. Returns what ring_writer_next does. */
MUST_USE uint64_t ring_writer_close(struct ring_writer *writer, uint64_t position);

#endif
