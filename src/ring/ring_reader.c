/* SPDX-License-Identifier: MIT */
/*
 * Lanes are read in place, up to the first header that is zero; where the oldest buffer may be overwritten at any time,
 * from a copy that counts only if it still was the same afterwards.
 *
 * A signal handler that interrupts a gate of a hooked function, which has taken the place of a record, writes its own
 * records behind that one. Should it never return, but jump elsewhere, that place stays empty for ever. It is passed
 * over as soon as it is known that it will not be filled: when the buffer is full, or the thread writes no more.
 */
#include "ring/ring_reader.h"

#include "base/mapped_array.h"
#include "base/memory_barrier.h"
#include "base/memory_file.h"
#include "base/memory_map.h"
#include "base/time_counter.h"
#include "process/futex.h"
#include "ring/detail_record.h"
#include "ring/event_decoder.h"

#include <asm/errno.h>
#include <stdatomic.h>

/* So many places may be empty one behind the other: behind more of them nothing is looked for. */
#define EMPTY_PLACES_MAX 256u

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static bool header_is_good(const struct ring_header *header, size_t bytes)
{
    uint64_t lane_bytes = ring_lane_bytes(header->buffer_count);

    return __atomic_load_n(&header->magic, __ATOMIC_ACQUIRE) == RING_MAGIC && header->version == RING_VERSION &&
           header->overflow < RING_OVERFLOWS && header->region_bytes == bytes && header->buffer_count >= 2 &&
           header->buffer_count <= RING_BUFFERS_MAX && header->buffer_bytes >= RING_BUFFER_BYTES_MIN &&
           header->buffer_bytes <= RING_BUFFER_BYTES_MAX && header->buffer_bytes % RING_BUFFER_BYTES_MIN == 0 &&
           header->lane_limit <= (bytes - RING_LANES_OFFSET - RING_TAIL_BYTES) / lane_bytes;
}

static int map_ring(struct ring_reader *reader, int fd)
{
    long bytes = memory_file_bytes(fd);
    void *base;
    int result;

    if (bytes < 0)
        return (int)bytes;
    if ((uint64_t)bytes < RING_LANES_OFFSET + RING_TAIL_BYTES)
        return -EINVAL;
    /* Else whoever has the file could take memory away that we look at. */
    if (!memory_file_is_sealed(fd))
        return -EPERM;
    result = memory_map_file_aligned(fd, (size_t)bytes, memory_page_size(), &base);
    if (result != 0)
        return result;
    reader->base = base;
    reader->bytes = (size_t)bytes;
    /* Checked in the copy: the file may change. */
    __builtin_memcpy(&reader->header, base, sizeof(reader->header));
    return header_is_good(&reader->header, reader->bytes) ? 0 : -EINVAL;
}

static size_t copy_bytes(const struct ring_reader *reader)
{
    return reader->header.buffer_bytes + EVENT_SLACK_BYTES;
}

static int prepare(struct ring_reader *reader, int fd)
{
    void *copy;
    int result = map_ring(reader, fd);

    if (result != 0 || reader->header.overflow != RING_OVERWRITE)
        return result;
    result = memory_map(copy_bytes(reader), &copy);
    if (result == 0)
        reader->copy = copy;
    return result;
}

int ring_reader_open(int fd, struct ring_reader **reader_out)
{
    struct ring_reader *reader;
    void *storage;
    int result = memory_map(sizeof(*reader), &storage);

    if (result != 0)
        return result;
    reader = storage;
    result = prepare(reader, fd);
    if (result != 0) {
        ring_reader_close(reader);
        return result;
    }
    *reader_out = reader;
    return 0;
}

void ring_reader_close(struct ring_reader *reader)
{
    if (reader == NULL)
        return;
    MAPPED_ARRAY_RELEASE(reader->lanes, reader->lane_capacity);
    memory_unmap(reader->copy, copy_bytes(reader));
    memory_unmap(reader->base, reader->bytes);
    memory_unmap(reader, sizeof(*reader));
}

static struct ring_header *shared_header(const struct ring_reader *reader)
{
    return (struct ring_header *)(void *)reader->base;
}

/* ---- lanes ------------------------------------------------------------------------------------------------------- */

static uint8_t *lane_start(const struct ring_reader *reader, uint32_t index)
{
    return reader->base + ring_lane_start(index, reader->header.buffer_count);
}

static struct ring_lane *lane_at(const struct ring_reader *reader, uint32_t index)
{
    return (struct ring_lane *)(void *)(lane_start(reader, index) + RING_LANE_OFFSET);
}

/* Buffers that were overwritten are gone; the bytes that they had are not known, but full ones they were. */
static void skip_overwritten(struct ring_reader *reader, struct ring_lane_progress *progress, uint64_t begun)
{
    uint64_t oldest = begun - reader->header.buffer_count;
    uint64_t lost = (oldest - progress->sequence) * reader->header.buffer_bytes - progress->taken_bytes;

    progress->lost_bytes += lost;
    reader->lost_bytes += lost;
    progress->sequence = oldest;
    progress->taken_bytes = 0;
    progress->looked_time = 0;
}

static bool is_overwritten(const struct ring_reader *reader, const struct ring_lane *lane, uint64_t sequence)
{
    return atomic_load_explicit(&lane->claimed, memory_order_acquire) > sequence + reader->header.buffer_count;
}

/* Where the records of a buffer are: in the lane, or in our copy of it. NULL: it is overwritten. */
static const uint8_t *records_of(struct ring_reader *reader, uint32_t index, uint64_t sequence, uint64_t bytes)
{
    uint64_t unit = sequence % reader->header.buffer_count;
    const uint8_t *start = lane_start(reader, index) + (unit + 1) * RING_UNIT_BYTES - reader->header.buffer_bytes;

    if (reader->copy == NULL)
        return start;
    __builtin_memcpy(reader->copy, start, bytes);
    /* What was copied is looked at only if it was not changed up to here. */
    memory_barrier();
    return is_overwritten(reader, lane_at(reader, index), sequence) ? NULL : reader->copy;
}

static void consume(const struct ring_reader *reader, struct ring_lane *lane, uint64_t sequence)
{
    atomic_store_explicit(&lane->consumed, sequence, memory_order_release);
    if (reader->header.overflow != RING_BLOCK)
        return;
    atomic_fetch_add_explicit(&lane->wake, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&lane->is_waiting, memory_order_seq_cst) != 0)
        futex_wake(&lane->wake, INT32_MAX);
}

/* What is to be said of a lane's thread with each batch. */
static struct ring_batch batch_of(uint32_t index, const struct ring_lane *lane, uint32_t generation, uint32_t tid)
{
    return (struct ring_batch){
        .lane = index,
        .generation = generation,
        .tid = tid,
        .serial = lane->serial,
        .events = lane->events,
        .space = lane->space,
        .with_times = lane->with_times != 0,
        .is_whole = lane->is_whole != 0,
        .kind = (enum ring_lane_kind)lane->kind,
        .wait_count = atomic_load_explicit(&lane->wait_count, memory_order_relaxed),
        .waited_ns = atomic_load_explicit(&lane->waited_ns, memory_order_relaxed),
    };
}

/* Where the records of a buffer that is not full end. */
static const uint8_t *written_end(const struct ring_batch *batch, const uint8_t *end)
{
    if (batch->kind == RING_LANE_DETAIL)
        return detail_records_end(batch->bytes, end);
    return event_records_end(event_format_of(batch->events, batch->with_times), batch->bytes, end);
}

static bool is_of_hooks(const struct ring_batch *batch)
{
    return batch->kind == RING_LANE_INDEX && event_format_of(batch->events, batch->with_times).is_hooked;
}

static bool is_empty(const uint8_t *place)
{
    return __atomic_load_n((const uint32_t *)(const void *)place, __ATOMIC_ACQUIRE) == 0;
}

/*
 * How many bytes of records there are here, before another record, that were begun and never completed. All of the rest
 * may be; where the buffer is not full, that is its end.
 */
static size_t empty_bytes(const uint8_t *place, const uint8_t *end, bool is_full)
{
    const uint8_t *at = place;

    for (; end - at >= EVENT_HOOK_BYTES && (is_full || at - place < EMPTY_PLACES_MAX * EVENT_HOOK_BYTES);
         at += EVENT_HOOK_BYTES)
        if (!is_empty(at))
            return (size_t)(at - place);
    return is_full ? (size_t)(end - place) : 0;
}

/* The first place that is empty, or the end. What is no record at all is for others to refuse. */
static const uint8_t *find_empty(const uint8_t *place, const uint8_t *end)
{
    for (; end - place >= EVENT_HOOK_BYTES; place += EVENT_HOOK_BYTES)
        if (is_empty(place))
            return place;
    return end;
}

/* What is there for good, of a buffer with records of hooked functions. Whether there is more behind it. */
static bool choose_settled(struct ring_batch *batch, bool is_full)
{
    const uint8_t *end = batch->bytes + batch->size_bytes, *stop;

    batch->bytes += empty_bytes(batch->bytes, end, is_full);
    stop = find_empty(batch->bytes, end);
    batch->size_bytes = (size_t)(stop - batch->bytes);
    return stop != end && batch->size_bytes != 0 && (is_full || empty_bytes(stop, end, false) != 0);
}

/* Takes what is new in the next buffer. 1: it is done, there may be another one; 0: that is all for now; or an error.
 */
static int take_buffer(struct ring_reader *reader, struct ring_lane_progress *progress, struct ring_batch batch,
                       const struct ring_taker *taker)
{
    struct ring_lane *lane = lane_at(reader, batch.lane);
    uint64_t full = atomic_load_explicit(&lane->full, memory_order_acquire);
    uint64_t begun = atomic_load_explicit(&lane->begun, memory_order_acquire);
    struct ring_buffer *buffer;
    const uint8_t *records;
    uint64_t bytes = copy_bytes(reader), now = time_counter();
    bool is_full, has_more = false;
    int result;

    if (begun > progress->sequence + reader->header.buffer_count)
        skip_overwritten(reader, progress, begun);
    if (progress->sequence >= begun)
        return 0;
    buffer = &lane->buffers[progress->sequence % reader->header.buffer_count];
    is_full = progress->sequence < full;
    if (is_full)
        bytes = atomic_load_explicit(&buffer->written_bytes, memory_order_relaxed);
    if (bytes > copy_bytes(reader) || bytes < progress->taken_bytes) {
        /* It may have been cleared just now, to be written anew: then the next time it is known where to go on. */
        memory_barrier();
        return reader->copy != NULL && is_overwritten(reader, lane, progress->sequence) ? 0 : -EPROTO;
    }
    records = records_of(reader, batch.lane, progress->sequence, bytes);
    /* The next time it is known where to go on. */
    if (records == NULL)
        return 0;
    batch.bytes = records + progress->taken_bytes;
    batch.size_bytes = bytes - progress->taken_bytes;
    if (is_of_hooks(&batch) && (is_full || reader->is_concluded))
        has_more = choose_settled(&batch, is_full);
    else if (!is_full)
        batch.size_bytes = (size_t)(written_end(&batch, records + bytes) - batch.bytes);
    batch.first_time = progress->looked_time == 0 ? buffer->first_time : progress->looked_time;
    batch.last_time = time_counter();
    batch.lost_before = progress->lost_bytes;
    if (progress->taken_bytes == 0)
        batch.lost_before += atomic_load_explicit(&buffer->lost_before, memory_order_relaxed);
    if (batch.size_bytes != 0) {
        result = taker->take(taker->context, &batch);
        if (result != 0)
            return result;
        progress->lost_bytes = 0;
        progress->taken_bytes = (uint64_t)(batch.bytes - records) + batch.size_bytes;
    }
    if (has_more)
        return 1;
    /* What was not there comes later than that. */
    progress->looked_time = now;
    if (!is_full)
        return 0;
    progress->sequence++;
    progress->taken_bytes = 0;
    progress->looked_time = 0;
    consume(reader, lane, progress->sequence);
    return 1;
}

/* Tells that nothing more will come, and lets the lane be used again. */
static int end_lane(struct ring_reader *reader, struct ring_lane_progress *progress, struct ring_batch batch,
                    const struct ring_taker *taker)
{
    struct ring_lane *lane = lane_at(reader, batch.lane);
    uint32_t ended = RING_LANE_ENDED;
    int result;

    batch.is_last = true;
    batch.first_time = progress->looked_time;
    batch.last_time = time_counter();
    batch.lost_before = progress->lost_bytes;
    result = progress->is_over ? 0 : taker->take(taker->context, &batch);
    if (result != 0)
        return result;
    progress->is_over = true;
    reader->lost_bytes += atomic_exchange_explicit(&lane->lost_bytes, 0, memory_order_relaxed);
    (void)atomic_compare_exchange_strong(&lane->state, &ended, RING_LANE_FREE);
    return 0;
}

static int take_lane(struct ring_reader *reader, uint32_t index, const struct ring_taker *taker)
{
    struct ring_lane_progress *progress = &reader->lanes[index];
    const struct ring_lane *lane = lane_at(reader, index);
    uint32_t state = atomic_load_explicit(&lane->state, memory_order_acquire);
    uint32_t generation = atomic_load_explicit(&lane->generation, memory_order_acquire);
    uint32_t tid = atomic_load_explicit(&lane->tid, memory_order_acquire);
    struct ring_batch batch = batch_of(index, lane, generation, tid);
    int result = batch.kind < RING_LANE_KINDS ? 1 : -EPROTO;

    if (generation != progress->generation)
        *progress = (struct ring_lane_progress){.generation = generation, .sequence = lane->first_sequence};
    if (tid == 0 || progress->is_broken || state == RING_LANE_FREE)
        return 0;
    while (result == 1)
        result = take_buffer(reader, progress, batch, taker);
    if (result == 0 && state == RING_LANE_ENDED &&
        progress->sequence >= atomic_load_explicit(&lane->full, memory_order_acquire))
        result = end_lane(reader, progress, batch, taker);
    if (result == -EPROTO) {
        progress->is_broken = true;
        reader->broken_count++;
    }
    return result;
}

void ring_reader_conclude(struct ring_reader *reader)
{
    reader->is_concluded = true;
}

int ring_reader_take(struct ring_reader *reader, const struct ring_taker *taker)
{
    struct ring_header *header = shared_header(reader);
    uint32_t activity = atomic_load_explicit(&header->activity, memory_order_acquire);
    uint32_t count = atomic_load_explicit(&header->lane_count, memory_order_acquire);
    int result, first = 0;

    atomic_fetch_add_explicit(&header->heartbeat, 1, memory_order_relaxed);
    reader->activity_seen = activity;
    if (count > reader->header.lane_limit)
        return -EPROTO;
    result = MAPPED_ARRAY_RESERVE(reader->lanes, reader->lane_capacity, count);
    if (result != 0)
        return result;
    for (uint32_t i = 0; i < count; i++) {
        result = take_lane(reader, i, taker);
        if (first == 0)
            first = result;
    }
    return first;
}

/* What is new in a log that begins at an offset and has so much room. */
static int take_log(const struct ring_reader *reader, uint64_t used, uint64_t offset, uint64_t room, uint64_t *taken,
                    const uint8_t **bytes_out, size_t *size_out)
{
    if (used > room || used < *taken)
        return -EPROTO;
    *bytes_out = reader->base + offset + *taken;
    *size_out = (size_t)(used - *taken);
    *taken = used;
    return 0;
}

int ring_reader_blocks(struct ring_reader *reader, const uint8_t **blocks_out, size_t *size_out)
{
    uint64_t used = atomic_load_explicit(&shared_header(reader)->blocks_used, memory_order_acquire);

    return take_log(reader, used, RING_BLOCKS_OFFSET, RING_BLOCKS_BYTES, &reader->blocks_taken, blocks_out, size_out);
}

int ring_reader_modules(struct ring_reader *reader, const uint8_t **modules_out, size_t *size_out)
{
    uint64_t used = atomic_load_explicit(&shared_header(reader)->modules_used, memory_order_acquire);

    return take_log(reader, used, RING_MODULES_OFFSET, RING_MODULES_BYTES, &reader->modules_taken, modules_out,
                    size_out);
}

void ring_reader_wait(struct ring_reader *reader, unsigned timeout_ms)
{
    struct ring_header *header = shared_header(reader);
    struct futex_deadline deadline = futex_deadline_after(timeout_ms);

    atomic_fetch_add_explicit(&header->heartbeat, 1, memory_order_relaxed);
    atomic_store_explicit(&header->is_awaited, 1, memory_order_seq_cst);
    (void)futex_wait(&header->activity, reader->activity_seen, &deadline);
    atomic_store_explicit(&header->is_awaited, 0, memory_order_relaxed);
}

void ring_reader_name(const struct ring_reader *reader, uint32_t lane, uint32_t generation,
                      char name_out[RING_NAME_BYTES])
{
    const struct ring_lane *shared = lane_at(reader, lane);
    uint64_t words[2] = {0};

    if (lane < reader->header.lane_limit &&
        atomic_load_explicit(&shared->generation, memory_order_acquire) == generation)
        for (unsigned i = 0; i < 2; i++)
            words[i] = atomic_load_explicit(&shared->name[i], memory_order_relaxed);
    __builtin_memcpy(name_out, words, sizeof(words));
    name_out[RING_NAME_BYTES - 1] = '\0';
}

void ring_reader_losses(const struct ring_reader *reader, struct ring_losses *losses_out)
{
    const struct ring_header *header = shared_header(reader);
    uint64_t late = reader->lost_bytes;

    for (uint32_t i = 0; i < reader->lane_capacity; i++)
        if (reader->lanes[i].generation != 0)
            late += atomic_load_explicit(&lane_at(reader, i)->lost_bytes, memory_order_relaxed);
    *losses_out = (struct ring_losses){
        .late_bytes = late,
        .no_lane_bytes = atomic_load_explicit(&header->lost_bytes, memory_order_relaxed),
        .no_room_count = atomic_load_explicit(&header->blocks_lost, memory_order_relaxed) +
                         atomic_load_explicit(&header->modules_lost, memory_order_relaxed),
        .no_memory_count = atomic_load_explicit(&header->memory_lacks, memory_order_relaxed),
        .not_hooked_count = atomic_load_explicit(&header->not_hooked, memory_order_relaxed),
    };
}

uint64_t ring_reader_matched(const struct ring_reader *reader)
{
    return atomic_load_explicit(&shared_header(reader)->matched, memory_order_relaxed);
}

uint64_t ring_reader_armed(const struct ring_reader *reader)
{
    return atomic_load_explicit(&shared_header(reader)->armed, memory_order_relaxed);
}

uint64_t ring_reader_unresolved(const struct ring_reader *reader)
{
    return atomic_load_explicit(&shared_header(reader)->unresolved, memory_order_relaxed);
}

uint64_t ring_reader_lost(const struct ring_reader *reader)
{
    struct ring_losses losses;

    ring_reader_losses(reader, &losses);
    return losses.late_bytes + losses.no_lane_bytes;
}
