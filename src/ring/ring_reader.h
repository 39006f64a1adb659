/* SPDX-License-Identifier: MIT */
/*
 * The other side of a ring, in the same process or another: finds what was written, also by a process that was killed.
 * Trusts nothing that it finds. One thread at a time; one reader for each ring. What the records mean is for
 * ring/ring_events.h.
 */
#ifndef GAIT_RING_RING_READER_H
#define GAIT_RING_RING_READER_H

#include "base/attributes.h"
#include "ring/ring_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Records of one thread that were not taken before: whole ones, in the order in which they were written. */
struct ring_batch {
    uint32_t lane;
    uint32_t generation; /* of the lane: with another one, it is another thread */
    uint32_t tid;
    uint32_t serial; /* of the thread: the same for all its lanes */
    uint32_t events;
    uint32_t space;
    bool with_times;
    enum ring_lane_kind kind;
    bool is_whole; /* the thread is followed from its first instruction on */
    bool is_last;  /* the thread writes no more */
    const uint8_t *bytes;
    size_t size_bytes;    /* may be 0 of the last one */
    uint64_t first_time;  /* the counter: all of it was written at that time or later; the last one of a thread that
                             wrote nothing has 0 */
    uint64_t last_time;   /* and before that */
    uint64_t lost_before; /* bytes of records that were dropped or overwritten before these */
    uint64_t wait_count;  /* how often the thread waited for room in this lane so far */
    uint64_t waited_ns;   /* and how long */
};

/* Takes a batch, whose bytes are good until it returns. Nonzero: it cannot, and gets the same again the next time. */
struct ring_taker {
    int (*take)(void *context, const struct ring_batch *batch);
    void *context;
};

/* What the reader knows of a lane. */
struct ring_lane_progress {
    uint32_t generation; /* 0: nothing yet */
    bool is_broken;      /* it holds what is no record: nothing is read any more */
    bool is_over;        /* the last batch was taken */
    uint64_t sequence;   /* of the buffer that is read next */
    uint64_t taken_bytes;
    uint64_t looked_time; /* when it was last looked into; 0: never */
    uint64_t lost_bytes;  /* that the next batch will report */
};

struct ring_reader {
    uint8_t *base;
    size_t bytes;
    struct ring_header header; /* as it was checked */
    struct ring_lane_progress *lanes;
    size_t lane_capacity;
    uint8_t *copy; /* of a buffer that may be overwritten */
    uint64_t blocks_taken;
    uint64_t modules_taken;
    uint64_t lost_bytes;    /* by overwriting, and of lanes that were read to their end */
    uint32_t activity_seen; /* the header's, before the last time */
    uint32_t broken_count;
    bool is_concluded; /* nobody writes any more */
};

/*
 * Maps the ring that a descriptor stands for; the descriptor is not kept. -EINVAL: it is no ring, or one of another
 * version; -EPERM: its size may change; -ENOMEM, and what mmap gives. The caller owns the reader.
 */
MUST_USE int ring_reader_open(int fd, struct ring_reader **reader_out);
void ring_reader_close(struct ring_reader *reader);

/*
 * Hands over all records that were not taken before. Then the blocks that they name are known: ring_reader_blocks gives
 * those too. -ENOMEM; -EPROTO: a lane holds what no writer writes, and is left alone from now on; what the taker gave.
 */
MUST_USE int ring_reader_take(struct ring_reader *reader, const struct ring_taker *taker);

/*
 * Nobody writes any more: the next time, what stands behind records that were begun and never completed is handed over,
 * too, also where a buffer is not full.
 */
void ring_reader_conclude(struct ring_reader *reader);

/*
 * What is known of blocks and was not given before: struct ring_block, one after the other. They are in memory that
 * others may change: to be copied before they are looked at. -EPROTO.
 */
MUST_USE int ring_reader_blocks(struct ring_reader *reader, const uint8_t **blocks_out, size_t *size_out);

/* The same for changes of what is mapped: struct ring_module. */
MUST_USE int ring_reader_modules(struct ring_reader *reader, const uint8_t **modules_out, size_t *size_out);

/*
 * Sleeps until something is full, or a thread has ended, since the last time; at most that long. A buffer that is not
 * full makes no noise: whoever wants to see records soon looks again from time to time.
 */
void ring_reader_wait(struct ring_reader *reader, unsigned timeout_ms);

#define RING_NAME_BYTES 16

/* The name of the thread that has a lane in that generation, as it told; "": it did not, or another one has it. */
void ring_reader_name(const struct ring_reader *reader, uint32_t lane, uint32_t generation,
                      char name_out[RING_NAME_BYTES]);
/* What the process could not tell, by reason. */
struct ring_losses {
    uint64_t late_bytes;       /* of records that were dropped, or overwritten, since they were not read in time */
    uint64_t no_lane_bytes;    /* of records of threads for which there was no lane */
    uint64_t no_room_count;    /* of blocks and modules for which there was no room */
    uint64_t no_memory_count;  /* of things that were not watched, since there was no memory */
    uint64_t not_hooked_count; /* of functions that should have been hooked, and cannot be */
};

void ring_reader_losses(const struct ring_reader *reader, struct ring_losses *losses_out);

/* Patterns that something in the process has matched: a bit for each. */
uint64_t ring_reader_matched(const struct ring_reader *reader);

/* Those of them because of which something is watched. */
uint64_t ring_reader_armed(const struct ring_reader *reader);

/* Those that mean functions whose address was not known, at least when they were looked for. */
uint64_t ring_reader_unresolved(const struct ring_reader *reader);

/* Bytes of records that were dropped, or overwritten before they were read. */
uint64_t ring_reader_lost(const struct ring_reader *reader);

#endif
