/* SPDX-License-Identifier: MIT */
/*
 * A ring that the kernel writes events into and we read: pages mapped from a perf event. Records are handed out whole,
 * where they are, or copied where the ring's end cuts them in two. One thread at a time.
 */
#ifndef GAIT_KERNEL_PERF_RING_H
#define GAIT_KERNEL_PERF_RING_H

#include "base/attributes.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct perf_ring {
    struct perf_event_mmap_page *page;
    const uint8_t *data;
    size_t size_bytes; /* a power of two */
    size_t mapped_bytes;
    uint64_t head;   /* what there was when we last looked */
    uint64_t tail;   /* how far we have read */
    uint8_t *joined; /* for a record that was cut in two */
};

/* Maps that many bytes of data, a power of two and whole pages. -EPERM: it is more than this user may lock; -ENOMEM. */
MUST_USE int perf_ring_map(struct perf_ring *ring, int fd, size_t size_bytes);
void perf_ring_unmap(struct perf_ring *ring);

/* Looks how far the kernel is. */
void perf_ring_look(struct perf_ring *ring);

/* The next record of what was there; it stays until it is passed. NULL: there is none. */
const struct perf_event_header *perf_ring_peek(struct perf_ring *ring);
void perf_ring_pass(struct perf_ring *ring, const struct perf_event_header *header);

/* Gives the room of all that was passed back to the kernel. */
void perf_ring_release(struct perf_ring *ring);

#endif
