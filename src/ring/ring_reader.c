/* SPDX-License-Identifier: MIT */
/*
 * Lanes are read in place, up to the first header that is zero; where the oldest buffer may be overwritten at any time,
 * from a copy that counts only if it still was the same afterwards. Blocks are copied once.
 */
#include "ring/ring_reader.h"

#include "base/memory_file.h"
#include "base/memory_map.h"
#include "process/futex.h"

#include <asm/errno.h>
#include <stdatomic.h>

#define LANES_AT_FIRST 64u

/* Where one space ends and the next begins in the map of blocks. */
static uint64_t key_of(uint32_t space, uint32_t number)
{
    return (uint64_t)space << 32 | number;
}

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

    if (result == 0)
        result = hash_map_init(&reader->blocks, 4096);
    if (result != 0)
        return result;
    slab_init(&reader->block_memory, 0);
    if (reader->header.overflow != RING_OVERWRITE)
        return 0;
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
    for (uint32_t i = 0; i < reader->lane_capacity; i++)
        event_decoder_deinit(&reader->lanes[i].decoder);
    memory_unmap(reader->lanes, reader->lane_capacity * sizeof(*reader->lanes));
    if (atomic_load_explicit(&reader->blocks.table, memory_order_relaxed) != NULL)
        hash_map_deinit(&reader->blocks);
    slab_deinit(&reader->block_memory);
    memory_unmap(reader->copy, copy_bytes(reader));
    memory_unmap(reader->base, reader->bytes);
    memory_unmap(reader, sizeof(*reader));
}

static struct ring_header *shared_header(const struct ring_reader *reader)
{
    return (struct ring_header *)(void *)reader->base;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* Copies the next one. -EPROTO: what stands there is none. */
static int read_block(struct ring_reader *reader, uint64_t used)
{
    const uint8_t *place = reader->base + RING_BLOCKS_OFFSET + reader->blocks_read;
    struct ring_block block, *kept;

    if (used - reader->blocks_read < sizeof(block))
        return -EPROTO;
    __builtin_memcpy(&block, place, sizeof(block));
    if (block.size_bytes < sizeof(block) || block.size_bytes % 8 != 0 ||
        block.size_bytes > used - reader->blocks_read || block.lengths_count > block.size_bytes - sizeof(block) ||
        block.last_insn_bytes > block.code_bytes)
        return -EPROTO;
    kept = slab_allocate(&reader->block_memory, block.size_bytes, 8);
    if (kept == NULL)
        return -ENOMEM;
    __builtin_memcpy(kept, place, block.size_bytes);
    *kept = block;
    reader->blocks_read += block.size_bytes;
    return hash_map_set(&reader->blocks, key_of(block.space, block.number), (uintptr_t)kept);
}

static int read_blocks(struct ring_reader *reader)
{
    uint64_t used = atomic_load_explicit(&shared_header(reader)->blocks_used, memory_order_acquire);
    int result = 0;

    if (used > RING_BLOCKS_BYTES)
        return -EPROTO;
    while (result == 0 && reader->blocks_read < used)
        result = read_block(reader, used);
    return result;
}

/* Whose blocks are looked for. */
struct block_search {
    struct ring_reader *reader;
    uint32_t space;
};

static bool find_block(const void *context, uint32_t number, struct event_block *block_out)
{
    const struct block_search *search = context;
    const struct ring_block *block;
    uint64_t key = key_of(search->space, number), value;

    /* It was made known before the record was written, but perhaps after we looked. */
    if (!hash_map_lookup(&search->reader->blocks, key, &value) &&
        (read_blocks(search->reader) != 0 || !hash_map_lookup(&search->reader->blocks, key, &value)))
        return false;
    block = (const struct ring_block *)(uintptr_t)value;
    *block_out = (struct event_block){
        .start = block->start,
        .call_target = block->call_target,
        .size_bytes = block->code_bytes,
        .last_insn_bytes = block->last_insn_bytes,
        .insn_count = block->lengths_count,
        .insn_lengths = (const uint8_t *)(block + 1),
    };
    return true;
}

/* ---- lanes ------------------------------------------------------------------------------------------------------- */

static uint8_t *lane_start(const struct ring_reader *reader, uint32_t index)
{
    return reader->base + RING_LANES_OFFSET + index * ring_lane_bytes(reader->header.buffer_count);
}

static struct ring_lane *lane_at(const struct ring_reader *reader, uint32_t index)
{
    return (struct ring_lane *)(void *)(lane_start(reader, index) + RING_LANE_OFFSET);
}

static int make_room(struct ring_reader *reader, uint32_t count)
{
    uint32_t capacity = reader->lane_capacity == 0 ? LANES_AT_FIRST : reader->lane_capacity;
    void *storage;

    while (capacity < count)
        capacity *= 2;
    if (capacity == reader->lane_capacity)
        return 0;
    if (memory_map(capacity * sizeof(*reader->lanes), &storage) != 0)
        return -ENOMEM;
    if (reader->lanes != NULL)
        __builtin_memcpy(storage, reader->lanes, reader->lane_capacity * sizeof(*reader->lanes));
    memory_unmap(reader->lanes, reader->lane_capacity * sizeof(*reader->lanes));
    reader->lanes = storage;
    reader->lane_capacity = capacity;
    return 0;
}

/* The lane has another thread now. */
static void begin_thread(struct ring_lane_progress *state, const struct ring_lane *lane, uint32_t generation,
                         const struct event_receiver *receiver)
{
    state->decoder.receiver = *receiver;
    event_decoder_finish(&state->decoder);
    event_decoder_deinit(&state->decoder);
    *state = (struct ring_lane_progress){
        .decoder = {.wanted = lane->events, .with_times = lane->with_times != 0},
        .generation = generation,
        .space = lane->space,
        .sequence = lane->first_sequence,
    };
}

/* Buffers that were overwritten are gone; the bytes that they had are not known, but full ones they were. */
static void skip_overwritten(struct ring_reader *reader, struct ring_lane_progress *state, uint64_t begun)
{
    uint64_t oldest = begun - reader->header.buffer_count;

    reader->lost_bytes += (oldest - state->sequence) * reader->header.buffer_bytes - state->taken_bytes;
    state->sequence = oldest;
    state->taken_bytes = 0;
}

static bool is_overwritten(const struct ring_reader *reader, const struct ring_lane *lane, uint64_t sequence)
{
    return atomic_load_explicit(&lane->claimed, memory_order_acquire) > sequence + reader->header.buffer_count;
}

/* Where the records of a buffer are: in the lane, or in our copy of it. NULL: it is overwritten. */
static const uint8_t *records_of(struct ring_reader *reader, uint32_t index, const struct ring_lane *lane,
                                 uint64_t sequence, uint64_t bytes)
{
    uint64_t unit = sequence % reader->header.buffer_count;
    const uint8_t *start = lane_start(reader, index) + (unit + 1) * RING_UNIT_BYTES - reader->header.buffer_bytes;

    if (reader->copy == NULL)
        return start;
    __builtin_memcpy(reader->copy, start, bytes);
    /* What was copied is looked at only if it was not changed up to here. */
    atomic_thread_fence(memory_order_acquire);
    return is_overwritten(reader, lane, sequence) ? NULL : reader->copy;
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

/* Reads what is new in the next buffer. 1: it is done, there may be another one; 0: that is all for now; or an error.
 */
static int drain_buffer(struct ring_reader *reader, uint32_t index, struct ring_lane_progress *state)
{
    struct ring_lane *lane = lane_at(reader, index);
    const struct block_search search = {reader, state->space};
    const struct event_blocks blocks = {find_block, &search};
    uint64_t full = atomic_load_explicit(&lane->full, memory_order_acquire);
    uint64_t begun = atomic_load_explicit(&lane->begun, memory_order_acquire);
    const struct ring_buffer *buffer;
    const uint8_t *records, *place;
    uint64_t bytes = copy_bytes(reader);
    int error;

    if (begun > state->sequence + reader->header.buffer_count)
        skip_overwritten(reader, state, begun);
    if (state->sequence >= begun)
        return 0;
    buffer = &lane->buffers[state->sequence % reader->header.buffer_count];
    if (state->sequence < full)
        bytes = atomic_load_explicit(&buffer->written_bytes, memory_order_relaxed);
    if (bytes > copy_bytes(reader) || bytes < state->taken_bytes)
        return -EPROTO;
    records = records_of(reader, index, lane, state->sequence, bytes);
    /* The next time it is known where to go on. */
    if (records == NULL)
        return 0;
    place = event_decoder_run(&state->decoder, &blocks, records + state->taken_bytes, records + bytes, &error);
    state->taken_bytes = (uint64_t)(place - records);
    if (error != 0)
        return error;
    if (state->sequence >= full)
        return 0;
    if (state->taken_bytes != bytes && !state->decoder.is_closed)
        return -EPROTO;
    state->sequence++;
    state->taken_bytes = 0;
    consume(reader, lane, state->sequence);
    return 1;
}

static int drain_lane(struct ring_reader *reader, uint32_t index, const struct event_receiver *receiver)
{
    struct ring_lane_progress *state = &reader->lanes[index];
    struct ring_lane *lane = lane_at(reader, index);
    uint32_t lane_state = atomic_load_explicit(&lane->state, memory_order_acquire);
    uint32_t generation = atomic_load_explicit(&lane->generation, memory_order_acquire);
    uint32_t tid = atomic_load_explicit(&lane->tid, memory_order_acquire);
    int result = 1;

    if (generation != state->generation)
        begin_thread(state, lane, generation, receiver);
    if (tid == 0 || state->is_broken || lane_state == RING_LANE_FREE)
        return 0;
    state->decoder.tid = tid;
    state->decoder.receiver = *receiver;
    while (result == 1)
        result = drain_buffer(reader, index, state);
    if (result != 0) {
        state->is_broken = true;
        reader->broken_count++;
        return result;
    }
    if (lane_state == RING_LANE_ENDED && state->sequence >= atomic_load_explicit(&lane->full, memory_order_acquire)) {
        event_decoder_finish(&state->decoder);
        reader->lost_bytes += atomic_exchange_explicit(&lane->lost_bytes, 0, memory_order_relaxed);
        (void)atomic_compare_exchange_strong(&lane->state, &lane_state, RING_LANE_FREE);
    }
    return 0;
}

int ring_reader_drain(struct ring_reader *reader, const struct event_receiver *receiver)
{
    struct ring_header *header = shared_header(reader);
    uint32_t activity = atomic_load_explicit(&header->activity, memory_order_acquire);
    uint32_t count = atomic_load_explicit(&header->lane_count, memory_order_acquire);
    int result, first = 0;

    atomic_fetch_add_explicit(&header->heartbeat, 1, memory_order_relaxed);
    reader->activity_seen = activity;
    if (count > reader->header.lane_limit)
        return -EPROTO;
    result = make_room(reader, count);
    if (result != 0)
        return result;
    for (uint32_t i = 0; i < count; i++) {
        result = drain_lane(reader, i, receiver);
        if (first == 0)
            first = result;
    }
    return first;
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

uint64_t ring_reader_lost(const struct ring_reader *reader)
{
    uint64_t lost = reader->lost_bytes + atomic_load_explicit(&shared_header(reader)->lost_bytes, memory_order_relaxed);

    for (uint32_t i = 0; i < reader->lane_capacity; i++)
        if (reader->lanes[i].generation != 0)
            lost += atomic_load_explicit(&lane_at(reader, i)->lost_bytes, memory_order_relaxed);
    return lost;
}
