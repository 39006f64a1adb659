/* SPDX-License-Identifier: MIT */
/*
 * A buffer is zero when it is begun: the writer that begins it clears what was written there the last time. While there
 * is no room, records go to the lane's last unit, and every time that is full the writer looks again.
 */
#include "ring/ring_writer.h"

#include "base/memory_barrier.h"
#include "base/memory_map.h"
#include "base/time_counter.h"
#include "process/futex.h"
#include "ring/ring_notice.h"

#include <asm/errno.h>
#include <stdatomic.h>

/* Small, so that room is noticed soon. */
#define DROPPED_AT_ONCE_BYTES (32u << 10)
/* A reader whose heart has not beaten for that long is dead. */
#define WAIT_MS       100
#define WAITS_AT_MOST 20

static uint8_t *unit_of(const struct ring_writer *writer, uint64_t sequence)
{
    return writer->first_unit + sequence % writer->region->options.buffer_count * RING_UNIT_BYTES;
}

static struct ring_buffer *buffer_of(const struct ring_writer *writer, uint64_t sequence)
{
    return &writer->lane->buffers[sequence % writer->region->options.buffer_count];
}

static void signal_activity(struct ring_region *region)
{
    struct ring_header *header = ring_region_header(region);

    atomic_fetch_add_explicit(&header->activity, 1, memory_order_release);
    if (atomic_load_explicit(&header->is_awaited, memory_order_seq_cst) != 0)
        futex_wake(&header->activity, INT32_MAX);
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

static void begin_buffer(struct ring_writer *writer, uint64_t lost_before)
{
    struct ring_buffer *buffer = buffer_of(writer, writer->sequence);
    uint8_t *end = unit_of(writer, writer->sequence) + RING_UNIT_BYTES;
    uint8_t *start = end - writer->region->options.buffer_bytes;

    /* Whoever copies what was there looks at this afterwards. */
    atomic_store_explicit(&writer->lane->claimed, writer->sequence + 1, memory_order_relaxed);
    memory_barrier();
    __builtin_memset(start, 0, atomic_load_explicit(&buffer->written_bytes, memory_order_relaxed));
    atomic_store_explicit(&buffer->written_bytes, 0, memory_order_relaxed);
    buffer->first_time = time_counter();
    atomic_store_explicit(&buffer->lost_before, lost_before, memory_order_relaxed);
    writer->start = (uintptr_t)start;
    writer->end = (uintptr_t)end;
    atomic_store_explicit(&writer->lane->begun, writer->sequence + 1, memory_order_release);
}

void ring_writer_begin_earlier(struct ring_writer *writer, uint64_t time)
{
    /* The reader looks at it when there is a record, which is stored afterwards. */
    if (writer->lane != NULL && !writer->is_dropping && time < buffer_of(writer, writer->sequence)->first_time)
        buffer_of(writer, writer->sequence)->first_time = time;
}

static void end_buffer(struct ring_writer *writer, uint64_t position)
{
    atomic_store_explicit(&buffer_of(writer, writer->sequence)->written_bytes, position - writer->start,
                          memory_order_relaxed);
    atomic_store_explicit(&writer->lane->full, writer->sequence + 1, memory_order_release);
    signal_activity(writer->region);
}

static void begin_dropping(struct ring_writer *writer)
{
    const struct ring_region *region = writer->region;
    uint8_t *last_unit = writer->lane == NULL
                             ? region->base + region->bytes - RING_TAIL_BYTES
                             : writer->first_unit + (uint64_t)region->options.buffer_count * RING_UNIT_BYTES;

    writer->is_dropping = true;
    writer->dropped_bytes = 0;
    writer->end = (uintptr_t)last_unit + RING_UNIT_BYTES;
    writer->start = writer->end - DROPPED_AT_ONCE_BYTES;
}

static bool has_room(const struct ring_writer *writer, uint64_t sequence)
{
    const struct ring_region *region = writer->region;

    if (region->is_detached)
        return false;
    return region->options.overflow == RING_OVERWRITE ||
           sequence - atomic_load_explicit(&writer->lane->consumed, memory_order_acquire) <
               region->options.buffer_count;
}

static bool is_reader_dead(const struct ring_writer *writer)
{
    return ring_notices_reader_died(ring_notices_in(writer->region->base));
}

/* A reader that was seen to be dead, or busy for seconds, is waited for again only when it gives signs of life. */
static bool may_wait(const struct ring_writer *writer)
{
    return writer->region->options.overflow == RING_BLOCK && !writer->region->is_detached && !is_reader_dead(writer) &&
           (!writer->is_dropping || atomic_load_explicit(&ring_region_header(writer->region)->heartbeat,
                                                         memory_order_relaxed) != writer->last_heartbeat);
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

static void set_pressure(struct ring_writer *writer, enum ring_pressure pressure, enum ring_drop_reason reason)
{
    struct ring_lane *lane = writer->lane;

    if (lane == NULL)
        return;
    if (pressure == RING_DROPPING && !writer->is_dropping)
        atomic_fetch_add_explicit(&lane->drop_counts[reason], 1, memory_order_relaxed);
    atomic_store_explicit(&lane->drop_reason, reason, memory_order_relaxed);
    atomic_store_explicit(&lane->pressure, pressure, memory_order_relaxed);
}

static enum ring_drop_reason drop_reason(const struct ring_writer *writer, const _Atomic uint32_t *give_up)
{
    if (writer->region->options.overflow != RING_BLOCK)
        return RING_DROP_FULL;
    if (is_reader_dead(writer))
        return RING_DROP_DEAD;
    return atomic_load_explicit(give_up, memory_order_relaxed) != 0 ? RING_DROP_LEAVING : RING_DROP_SILENT;
}

/* Sleeps once, and counts for how long: also if it is killed in the next one. */
static void sleep_until_wake(struct ring_lane *lane, uint32_t wake)
{
    struct futex_deadline began = futex_deadline_after(0), ended = futex_deadline_add(began, WAIT_MS);

    (void)futex_wait(&lane->wake, wake, &ended);
    ended = futex_deadline_after(0);
    atomic_fetch_add_explicit(&lane->waited_ns, futex_deadline_ns_between(&began, &ended), memory_order_relaxed);
}

/* Sleeps until the reader is done with a buffer. Whether there is room then. */
static bool wait_for_room(struct ring_writer *writer, uint64_t sequence, const _Atomic uint32_t *give_up)
{
    struct ring_header *header = ring_region_header(writer->region);
    uint32_t heartbeat = atomic_load_explicit(&header->heartbeat, memory_order_relaxed);
    struct ring_lane *lane = writer->lane;

    set_pressure(writer, RING_WAITING, RING_DROP_NONE);
    atomic_fetch_add_explicit(&lane->wait_count, 1, memory_order_relaxed);
    atomic_store_explicit(&lane->is_waiting, 1, memory_order_seq_cst);
    for (unsigned i = 0; i < WAITS_AT_MOST; i++) {
        uint32_t wake = atomic_load_explicit(&lane->wake, memory_order_acquire);
        uint32_t now;

        if (has_room(writer, sequence) || atomic_load_explicit(give_up, memory_order_relaxed) != 0 ||
            is_reader_dead(writer))
            break;
        sleep_until_wake(lane, wake);
        now = atomic_load_explicit(&header->heartbeat, memory_order_relaxed);
        if (now != heartbeat)
            i = 0;
        heartbeat = now;
    }
    writer->last_heartbeat = heartbeat;
    atomic_store_explicit(&lane->is_waiting, 0, memory_order_relaxed);
    return has_room(writer, sequence);
}

/* ---- lanes ------------------------------------------------------------------------------------------------------- */

static struct ring_lane *lane_at(const struct ring_region *region, uint32_t index)
{
    uint64_t offset = ring_lane_start(index, region->options.buffer_count) + RING_LANE_OFFSET;

    return (struct ring_lane *)(void *)(region->base + offset);
}

static bool take(struct ring_lane *lane, uint32_t state)
{
    return atomic_compare_exchange_strong(&lane->state, &state, RING_LANE_OPEN);
}

/* A lane that was read to its end; or a new one; or, if old records may be overwritten, one that ended. */
static struct ring_lane *find_lane(struct ring_region *region) REQUIRES(region->lock)
{
    struct ring_header *header = ring_region_header(region);
    uint32_t count = atomic_load_explicit(&header->lane_count, memory_order_relaxed);

    for (uint32_t i = 0; i < count; i++)
        if (take(lane_at(region, i), RING_LANE_FREE))
            return lane_at(region, i);
    if (count < region->lane_limit && take(lane_at(region, count), RING_LANE_FREE))
        return lane_at(region, count);
    for (uint32_t i = 0; i < count && region->options.overflow == RING_OVERWRITE; i++)
        if (take(lane_at(region, i), RING_LANE_ENDED))
            return lane_at(region, i);
    return NULL;
}

/* Readers look at lanes below the count. */
static void announce(struct ring_region *region, const struct ring_lane *lane) REQUIRES(region->lock)
{
    struct ring_header *header = ring_region_header(region);
    uint32_t count = atomic_load_explicit(&header->lane_count, memory_order_relaxed);

    if (count < region->lane_limit && lane == lane_at(region, count))
        atomic_store_explicit(&header->lane_count, count + 1, memory_order_release);
}

static void begin_lane(struct ring_writer *writer, const struct ring_lane_owner *owner)
{
    struct ring_lane *lane = writer->lane;

    writer->first_unit = (uint8_t *)lane - RING_LANE_OFFSET;
    writer->sequence = atomic_load_explicit(&lane->full, memory_order_relaxed);
    atomic_store_explicit(&lane->tid, owner->tid, memory_order_relaxed);
    atomic_store_explicit(&lane->name[0], 0, memory_order_relaxed);
    atomic_store_explicit(&lane->name[1], 0, memory_order_relaxed);
    lane->events = owner->events;
    lane->space = owner->space;
    lane->with_times = owner->with_times;
    lane->is_whole = owner->is_whole;
    lane->kind = owner->kind;
    lane->serial = writer->serial;
    lane->first_sequence = writer->sequence;
    atomic_store_explicit(&lane->wait_count, 0, memory_order_relaxed);
    atomic_store_explicit(&lane->waited_ns, 0, memory_order_relaxed);
    for (unsigned i = 0; i < RING_DROP_REASONS; i++)
        atomic_store_explicit(&lane->drop_counts[i], 0, memory_order_relaxed);
    set_pressure(writer, RING_FILLING, RING_DROP_NONE);
    begin_buffer(writer, 0);
    atomic_fetch_add_explicit(&lane->generation, 1, memory_order_release);
}

void ring_writer_begin(struct ring_writer *writer, struct ring_region *region, const struct ring_lane_owner *owner)
{
    *writer = (struct ring_writer){.region = region};
    mutex_lock(&region->lock);
    writer->serial = owner->serial == 0 ? ++region->serial_count : owner->serial;
    writer->lane = region->is_detached ? NULL : find_lane(region);
    if (writer->lane != NULL) {
        begin_lane(writer, owner);
        announce(region, writer->lane);
    }
    mutex_unlock(&region->lock);
    if (writer->lane == NULL)
        begin_dropping(writer);
}

int ring_writer_open(struct ring_region *region, const struct ring_lane_owner *owner, struct ring_writer **writer_out)
{
    void *storage;
    int result = memory_map(sizeof(struct ring_writer), &storage);

    if (result != 0)
        return result;
    ring_writer_begin(storage, region, owner);
    *writer_out = storage;
    return 0;
}

void ring_writer_set_tid(struct ring_writer *writer, uint32_t tid)
{
    if (writer->lane != NULL)
        atomic_store_explicit(&writer->lane->tid, tid, memory_order_release);
}

static void set_name(struct ring_lane *lane, const char *name)
{
    uint64_t words[2] = {0};

    for (size_t i = 0; i < sizeof(words) - 1 && name[i] != '\0'; i++)
        ((char *)words)[i] = name[i];
    atomic_store_explicit(&lane->name[0], words[0], memory_order_relaxed);
    atomic_store_explicit(&lane->name[1], words[1], memory_order_relaxed);
}

void ring_writer_set_name(struct ring_writer *writer, const char *name)
{
    if (writer->lane != NULL)
        set_name(writer->lane, name);
}

static uint64_t count_dropped(struct ring_writer *writer, uint64_t position)
{
    uint64_t bytes = position - writer->start;
    struct ring_header *header = ring_region_header(writer->region);

    writer->dropped_bytes += bytes;
    atomic_fetch_add_explicit(writer->lane == NULL ? &header->lost_bytes : &writer->lane->lost_bytes, bytes,
                              memory_order_relaxed);
    return bytes;
}

uint64_t ring_writer_next(struct ring_writer *writer, uint64_t position, const _Atomic uint32_t *give_up)
{
    uint64_t next = writer->sequence + 1, dropped = 0;

    if (writer->is_dropping)
        dropped = count_dropped(writer, position);
    else
        end_buffer(writer, position);
    if (writer->lane == NULL)
        return dropped;
    if (has_room(writer, next) || (may_wait(writer) && wait_for_room(writer, next, give_up))) {
        writer->sequence = next;
        begin_buffer(writer, writer->is_dropping ? writer->dropped_bytes : 0);
        writer->is_dropping = false;
        set_pressure(writer, RING_FILLING, RING_DROP_NONE);
        return dropped;
    }
    set_pressure(writer, RING_DROPPING, drop_reason(writer, give_up));
    if (!writer->is_dropping)
        begin_dropping(writer);
    return dropped;
}

void ring_writer_forget(struct ring_writer *writer)
{
    memory_unmap(writer, sizeof(*writer));
}

uint64_t ring_writer_close(struct ring_writer *writer, uint64_t position)
{
    uint64_t dropped = 0;

    if (writer->is_dropping)
        dropped = count_dropped(writer, position);
    else
        end_buffer(writer, position);
    if (writer->lane != NULL) {
        atomic_store_explicit(&writer->lane->state, RING_LANE_ENDED, memory_order_release);
        signal_activity(writer->region);
    }
    memory_unmap(writer, sizeof(*writer));
    return dropped;
}
