/* SPDX-License-Identifier: MIT */
/*
 * The events of one followed thread: the buffer that translated code writes records into, and the way from records to
 * events. Belongs to that thread; others may look at it only while the thread is stopped.
 */
#ifndef GAIT_STALKER_EVENT_BUFFER_H
#define GAIT_STALKER_EVENT_BUFFER_H

#include "base/attributes.h"
#include "gait/stalker.h"

#include <stddef.h>
#include <stdint.h>

struct code_cache;

/* A call that has not returned yet. */
struct event_frame {
    uint64_t sp; /* before the call */
    uint64_t return_address;
};

/* Takes a batch of events. Nonzero: it wants no more. */
struct event_receiver {
    int (*process)(void *context, const struct gait_event *events, size_t count);
    void *context;
};

struct event_buffer {
    uint8_t *reserved;
    size_t reserved_bytes;
    uint64_t start;
    uint64_t end; /* as event_layout.h has it */
    struct event_receiver receiver;
    bool is_draining;    /* the receiver is being called */
    bool is_closed;      /* the receiver wants no more */
    uint64_t lost_bytes; /* of records that nobody got */
    uint32_t tid;
    int32_t depth_below; /* how far returns went above where following began: 0 or negative */
    struct event_frame *frames;
    size_t frame_count;
    size_t frame_capacity;
};

/* size_bytes is rounded up to pages, at most 8 MiB. -ENOMEM; -EINVAL: too large. The caller owns it. */
MUST_USE int event_buffer_create(size_t size_bytes, struct event_buffer **buffer_out);
void event_buffer_destroy(struct event_buffer *buffer);

/* The largest buffer that there is. */
#define EVENT_BUFFER_BYTES_MAX (8u << 20)

/*
 * Hands the records in [start, position) to the receiver, or drops them if there is none. Afterwards the buffer is
 * empty: the position is its start. Not while it is being drained already.
 */
void event_buffer_drain(struct event_buffer *buffer, const struct code_cache *cache, uint64_t position);

#endif
