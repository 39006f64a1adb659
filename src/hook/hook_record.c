/* SPDX-License-Identifier: MIT */
/*
 * A thread without a lane has its position in the arena's sink, where every record makes a buffer full: then a lane is
 * opened, and the record, which is all that is in the sink of interest, is copied there. Where records may not be
 * wanted a thread stays there.
 */
#include "hook/hook_record.h"

#include "base/counters.h"
#include "base/time_counter.h"
#include "hook/go/goroutine.h"
#include "hook/hook_arena.h"
#include "hook/hook_thread.h"
#include "hook/hook_thread_layout.h"
#include "process/thread_name.h"
#include "ring/ring_writer.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

_Static_assert(offsetof(struct hook_record, header_and_depth) == 0, "as the gates have it");
_Static_assert(offsetof(struct hook_record, time) == HOOK_RECORD_TIME, "as the gates have it");
_Static_assert(sizeof(struct hook_record) == HOOK_RECORD_BYTES, "as the gates have it");
_Static_assert(HOOK_RECORD_BYTES == EVENT_HOOK_BYTES && HOOK_RECORD_DEPTH == EVENT_DEPTH_OFFSET, "as readers have it");
_Static_assert(HOOK_RECORD_FULL == 0xff << 8 * EVENT_FULL_BYTE, "as buffers are made");

static _Atomic(struct ring_region *) recorded_region;
static _Atomic uint32_t recorded_space;
static _Atomic uint64_t recording; /* changes with each; odd while there is one */
static const _Atomic uint32_t never;

/* Threads share it: nobody cares what is there but who just wrote it, and then only if it is still his. */
static uint64_t sink_of(const struct hook_thread *thread)
{
    return hook_arena_sink + thread->index % (HOOK_SINK_BYTES / 2 / HOOK_RECORD_BYTES) * HOOK_RECORD_BYTES;
}

static void set_position(struct hook_thread *thread, uint64_t position)
{
    atomic_store_explicit(&thread->position, position, memory_order_relaxed);
}

static uint64_t position_of(const struct hook_thread *thread)
{
    return atomic_load_explicit(&thread->position, memory_order_relaxed);
}

static bool is_recording(uint64_t which)
{
    return which % 2 != 0 && which == atomic_load_explicit(&recording, memory_order_acquire);
}

void hook_recording_begin(struct ring_region *region, uint32_t space)
{
    atomic_store_explicit(&recorded_region, region, memory_order_relaxed);
    atomic_store_explicit(&recorded_space, space, memory_order_relaxed);
    atomic_fetch_add_explicit(&recording, 1, memory_order_release);
}

void hook_recording_forget(void)
{
    if (is_recording(atomic_load_explicit(&recording, memory_order_relaxed)))
        atomic_fetch_add_explicit(&recording, 1, memory_order_release);
}

void hook_recording_end(void)
{
    struct hook_thread *thread;
    uint64_t mask = hook_signals_block();

    hook_recording_forget();
    if (hook_threads_lock() == 0) {
        for (uint32_t i = 0; (thread = hook_thread_at(i)) != NULL; i++)
            hook_record_close(thread);
        hook_threads_unlock();
    }
    hook_signals_unblock(mask);
}

void hook_record_begin_thread(struct hook_thread *thread)
{
    thread->writer = NULL;
    thread->serial = 0;
    thread->goroutine = 0;
    set_position(thread, sink_of(thread));
}

void hook_record_close(struct hook_thread *thread)
{
    struct ring_writer *writer = thread->writer;
    uint64_t position = position_of(thread);

    hook_record_begin_thread(thread);
    if (writer != NULL)
        counter_add(COUNTER_hook_record_bytes_dropped, ring_writer_close(writer, position));
}

void hook_record_forget(struct hook_thread *thread)
{
    struct ring_writer *writer = thread->writer;

    hook_record_begin_thread(thread);
    if (writer != NULL)
        ring_writer_forget(writer);
}

static bool open_lane(struct hook_thread *thread)
{
    const struct ring_lane_owner owner = {
        .tid = thread->tid,
        .events = EVENTS_HOOKED | (hook_goroutine_number_at != 0 ? GAIT_EVENT_GOROUTINE : 0),
        .space = atomic_load_explicit(&recorded_space, memory_order_relaxed),
        .with_times = true,
        .kind = RING_LANE_INDEX,
        .serial = thread->serial,
    };
    char name[THREAD_NAME_BYTES];

    if (ring_writer_open(atomic_load_explicit(&recorded_region, memory_order_relaxed), &owner, &thread->writer) != 0)
        return false;
    thread->serial = thread->writer->serial;
    thread_name_own(name);
    ring_writer_set_name(thread->writer, name);
    set_position(thread, thread->writer->start);
    return true;
}

/* The record that was written where none belongs, into the lane that there is now. */
static void move_record(struct hook_thread *thread, uint64_t from)
{
    struct hook_record *to = (struct hook_record *)(uintptr_t)position_of(thread);
    const struct hook_record *record = (const struct hook_record *)(uintptr_t)from;
    uint64_t what = atomic_load_explicit(&record->header_and_depth, memory_order_relaxed);

    ring_writer_begin_earlier(thread->writer, record->time);
    to->time = record->time;
    hook_record_publish(to, (uint32_t)what, (uint32_t)(what >> 32));
    set_position(thread, (uintptr_t)(to + 1));
}

void hook_record_next(struct hook_thread *thread)
{
    uint64_t position = position_of(thread);

    /* A handler that interrupted us on the way here was as far. */
    if (position & HOOK_RECORD_FULL)
        return;
    if (thread->writer != NULL) {
        counter_add(COUNTER_hook_record_bytes_dropped, ring_writer_next(thread->writer, position, &never));
        thread->goroutine = 0;
        set_position(thread, thread->writer->start);
        return;
    }
    set_position(thread, sink_of(thread));
    thread->recording = atomic_load_explicit(&recording, memory_order_acquire);
    if (is_recording(thread->recording) && open_lane(thread))
        move_record(thread, position - HOOK_RECORD_BYTES);
}

void hook_record_write(struct hook_thread *thread, uint32_t number, enum event_record record, uint32_t depth)
{
    uint64_t position = atomic_fetch_add_explicit(&thread->position, HOOK_RECORD_BYTES, memory_order_relaxed);
    struct hook_record *place = (struct hook_record *)(uintptr_t)position;

    place->time = time_counter();
    hook_record_publish(place, event_header(number, record), depth);
    if ((position + HOOK_RECORD_BYTES) & HOOK_RECORD_FULL)
        return;
    hook_record_next(thread);
}
