/* SPDX-License-Identifier: MIT */
/*
 * The events of one followed thread: the buffer that translated code writes records into, and the way from records to
 * events. Belongs to that thread; others may look at it only while the thread is stopped.
 */
#ifndef GAIT_STALKER_EVENT_BUFFER_H
#define GAIT_STALKER_EVENT_BUFFER_H

#include "base/attributes.h"
#include "ring/event_decoder.h"
#include "ring/event_record.h"

#include <stddef.h>
#include <stdint.h>

struct code_cache;
struct ring_writer;
struct stalker_thread;

struct event_buffer {
    uint8_t *reserved;
    size_t reserved_bytes;
    uint64_t start;
    uint64_t end; /* as ring/event_record.h has it */
    struct event_decoder decoder;
    struct ring_writer *ring; /* where records are written and stay; NULL: in the buffer, and they go to the receiver */
    bool is_draining;         /* the receiver is being called */
    uint64_t lost_bytes;      /* of records that nobody got */
};

/* size_bytes is rounded up to pages, at most 8 MiB. -ENOMEM; -EINVAL: too large. The caller owns it. */
MUST_USE int event_buffer_create(size_t size_bytes, struct event_buffer **buffer_out);

/*
 * The same for a thread that is followed in a cache with a ring. A tid of 0: it has not begun. is_whole: it is followed
 * from its first instruction on.
 */
MUST_USE int event_buffer_create_in_ring(const struct code_cache *cache, uint32_t tid, bool is_whole,
                                         struct event_buffer **buffer_out);

/* In a child that was just forked, and whose ring is its own: what was written before is the parent's. */
void event_buffer_begin_in_ring(struct event_buffer *buffer, const struct code_cache *cache, uint32_t tid);

/* The same of a thread that is not there in the child: its lane is the parent's, and is left alone. */
void event_buffer_forget_ring(struct event_buffer *buffer);

/* What is in the ring stays there. NULL is fine. */
void event_buffer_destroy(struct event_buffer *buffer);

/* The thread has begun, or is that of a child process. */
void event_buffer_set_tid(struct event_buffer *buffer, uint32_t tid);

/* The thread has that name, of at most 16 bytes with its NUL, for whoever reads a ring. */
void event_buffer_set_name(struct event_buffer *buffer, const char *name);

/* The largest buffer that there is. */
#define EVENT_BUFFER_BYTES_MAX (8u << 20)

/* Where the buffer's records go, and how they are to be read. */
void event_buffer_set(struct event_buffer *buffer, uint32_t events, bool with_times, struct event_receiver receiver);

/* Where the thread is when its records are read: that tells whether the block told last runs to its end. */
enum event_place {
    EVENT_PLACE_IN_BLOCK,
    EVENT_PLACE_BETWEEN_BLOCKS,
};

/*
 * Hands the records in [start, position) to the receiver, or drops them if there is none; of a ring, makes sure that
 * there is room for more, which may mean to wait unless *give_up is not 0. Returns the position to go on with; start
 * and end may be others than before. Not while it is being drained already.
 */
MUST_USE uint64_t event_buffer_drain(struct event_buffer *buffer, const struct code_cache *cache, uint64_t position,
                                     enum event_place place, const _Atomic uint32_t *give_up);

/* The thread writes no more records. */
void event_buffer_end(struct event_buffer *buffer, uint64_t position);

/* ---- records that the engine writes ------------------------------------------------------------------------------ */

/* Records that the engine writes itself. For the thread that they are of, or while it is stopped outside of the cache.
 */

/* Writes a record that has nothing but a number. There must be room, and some is behind the end of the buffer. */
void event_write(struct stalker_thread *thread, uint32_t number, enum event_record record);

/* Finds out what records say too much of the block in which the thread is, at a place where its registers are complete.
 */
void event_cut_at(struct stalker_thread *thread, uint64_t cache_pc);

/* Sets right what records say of the block in which the thread's registers were recovered, if it goes on elsewhere. */
void event_write_cut(struct stalker_thread *thread);

#endif
