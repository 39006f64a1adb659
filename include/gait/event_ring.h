/* SPDX-License-Identifier: MIT */
/*
 * Events through shared memory: followed threads write records there, and a reader in this process or another turns
 * them into events, while they run or afterwards. Writing costs no call, no clock and no system call; what a thread has
 * written can be read at once, also when the process was killed right after it.
 *
 *   gait_event_ring_create(NULL, &ring, &err);             gait_event_ring_reader_open(fd, &reader, &err);
 *   options.ring = ring;                                   while (...) {
 *   gait_stalker_follow_me(stalker, &options, &err);           gait_event_ring_drain(reader, receive, context, &err);
 *                                                              gait_event_ring_wait(reader, 10);
 *                                                          }
 */
#ifndef GAIT_EVENT_RING_H
#define GAIT_EVENT_RING_H

#include "gait/error.h"
#include "gait/stalker.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What happens when all buffers of a thread are full and no reader empties them. */
enum gait_ring_overflow {
    GAIT_RING_DROP = 0,     /* new events are dropped, and counted */
    GAIT_RING_BLOCK = 1,    /* the thread waits, as long as the reader is alive; then as above */
    GAIT_RING_OVERWRITE = 2 /* the oldest ones are overwritten */
};

/* Zeroes mean the default everywhere but in size_bytes. */
struct gait_event_ring_options {
    size_t size_bytes;
    size_t buffer_bytes;   /* 4 KiB to 8 MiB; 0: 256 KiB */
    unsigned buffer_count; /* of each thread, 2 to 64; 0: 4 */
    int overflow;          /* enum gait_ring_overflow */
};

/*
 * options may be NULL. -EINVAL: options that are not known; -ENOMEM: no memory, or no addresses (the ring takes some
 * GiB of them); -EMFILE, -ENFILE: no descriptor left.
 */
int gait_event_ring_create(const struct gait_event_ring_options *options, struct gait_event_ring **ring_out,
                           struct gait_error *err);

/* No stalker may be left that follows, or followed, threads with it. NULL is fine. Readers keep what they see. */
void gait_event_ring_destroy(struct gait_event_ring *ring);

/* The memory that is shared, for gait_event_ring_reader_open, here or where it was sent to. The ring's own. */
int gait_event_ring_fd(const struct gait_event_ring *ring);

/* ---- the reader -------------------------------------------------------------------------------------------------- */

struct gait_event_ring_reader;

/* One for each ring; the descriptor is not kept. -EINVAL: that is no ring, or of another version; -ENOMEM, -EBADF. */
int gait_event_ring_reader_open(int fd, struct gait_event_ring_reader **reader_out, struct gait_error *err);
void gait_event_ring_reader_close(struct gait_event_ring_reader *reader);

/*
 * Hands over all events that were not read before, each thread's in order and in batches. Instructions of the block
 * that a thread is in come when it is known that it ran to its end. -EPROTO: the memory holds what no thread
 * writes; what can be read is read all the same. -ENOMEM. Nonzero of `receive`: it wants no more of that thread.
 */
int gait_event_ring_drain(struct gait_event_ring_reader *reader,
                          int (*receive)(void *context, const struct gait_event *events, size_t count), void *context,
                          struct gait_error *err);

/* Sleeps until a buffer is full, or a thread is followed no more, since the last drain; at most that long. */
void gait_event_ring_wait(struct gait_event_ring_reader *reader, unsigned timeout_ms);

/* How many bytes of event records, 4 to 32 each, were dropped or overwritten before they were read. */
uint64_t gait_event_ring_lost(const struct gait_event_ring_reader *reader);

#ifdef __cplusplus
}
#endif

#endif
