/* SPDX-License-Identifier: MIT */
/* Blocks are copied, once, before they are looked at: others may change the memory that they come from. */
#include "ring/ring_events.h"

#include "base/mapped_array.h"
#include "base/memory_map.h"

#include <asm/errno.h>

/* Where one space ends and the next begins in the map of blocks. */
static uint64_t key_of(uint32_t space, uint32_t number)
{
    return (uint64_t)space << 32 | number;
}

int ring_events_open(int fd, struct ring_events **events_out)
{
    struct ring_events *events;
    void *storage;
    int result = memory_map(sizeof(*events), &storage);

    if (result != 0)
        return result;
    events = storage;
    slab_init(&events->block_memory, 0);
    result = hash_map_init(&events->blocks, 4096);
    if (result == 0)
        result = ring_reader_open(fd, &events->reader);
    if (result != 0) {
        ring_events_close(events);
        return result;
    }
    *events_out = events;
    return 0;
}

void ring_events_close(struct ring_events *events)
{
    if (events == NULL)
        return;
    for (size_t i = 0; i < events->lane_capacity; i++)
        event_decoder_deinit(&events->lanes[i].decoder);
    MAPPED_ARRAY_RELEASE(events->lanes, events->lane_capacity);
    if (atomic_load_explicit(&events->blocks.table, memory_order_relaxed) != NULL)
        hash_map_deinit(&events->blocks);
    slab_deinit(&events->block_memory);
    ring_reader_close(events->reader);
    memory_unmap(events, sizeof(*events));
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* Copies one. Its size, or -EPROTO: what stands there is none. */
static long keep_block(struct ring_events *events, const uint8_t *place, size_t available)
{
    struct ring_block block, *kept;
    int result;

    if (available < sizeof(block))
        return -EPROTO;
    __builtin_memcpy(&block, place, sizeof(block));
    if (block.size_bytes < sizeof(block) || block.size_bytes % 8 != 0 || block.size_bytes > available ||
        block.lengths_count > block.size_bytes - sizeof(block) || block.last_insn_bytes > block.code_bytes)
        return -EPROTO;
    kept = slab_allocate(&events->block_memory, block.size_bytes, 8);
    if (kept == NULL)
        return -ENOMEM;
    __builtin_memcpy(kept, place, block.size_bytes);
    *kept = block;
    result = hash_map_set(&events->blocks, key_of(block.space, block.number), (uintptr_t)kept);
    return result == 0 ? (long)block.size_bytes : result;
}

static int keep_blocks(struct ring_events *events)
{
    const uint8_t *place;
    size_t size;
    int result = ring_reader_blocks(events->reader, &place, &size);

    while (result == 0 && size != 0) {
        long used = keep_block(events, place, size);

        if (used < 0)
            return (int)used;
        place += used;
        size -= (size_t)used;
    }
    return result;
}

/* Whose blocks are looked for. */
struct block_search {
    struct ring_events *events;
    uint32_t space;
};

static bool find_block(const void *context, uint32_t number, struct event_block *block_out)
{
    const struct block_search *search = context;
    const struct ring_block *block;
    uint64_t key = key_of(search->space, number), value;

    /* It was made known before the record was written, but perhaps after we looked. */
    if (!hash_map_lookup(&search->events->blocks, key, &value) &&
        (keep_blocks(search->events) != 0 || !hash_map_lookup(&search->events->blocks, key, &value)))
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

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* One drain. */
struct drain {
    struct ring_events *events;
    const struct event_receiver *receiver;
};

static void begin_thread(struct ring_lane_events *lane, const struct ring_batch *batch)
{
    event_decoder_deinit(&lane->decoder);
    *lane = (struct ring_lane_events){
        .decoder = {.wanted = batch->events, .with_times = batch->with_times, .is_whole = batch->is_whole},
        .generation = batch->generation,
        .space = batch->space,
    };
}

static int take(void *context, const struct ring_batch *batch)
{
    const struct drain *drain = context;
    struct block_search search = {drain->events, batch->space};
    const struct event_blocks blocks = {find_block, &search};
    struct ring_lane_events *lane;
    const uint8_t *end;
    int result, error = 0;

    if (batch->kind != RING_LANE_INDEX)
        return 0;
    result = MAPPED_ARRAY_RESERVE(drain->events->lanes, drain->events->lane_capacity, (size_t)batch->lane + 1);
    if (result != 0)
        return result;
    lane = &drain->events->lanes[batch->lane];
    if (lane->generation != batch->generation)
        begin_thread(lane, batch);
    lane->decoder.tid = batch->tid;
    lane->decoder.receiver = *drain->receiver;
    end = event_decoder_run(&lane->decoder, &blocks, batch->bytes, batch->bytes + batch->size_bytes, &error);
    if (error == 0 && end != batch->bytes + batch->size_bytes && !lane->decoder.is_closed)
        error = -EPROTO;
    if (batch->is_last)
        event_decoder_finish(&lane->decoder);
    return error;
}

int ring_events_drain(struct ring_events *events, const struct event_receiver *receiver)
{
    struct drain drain = {events, receiver};
    const struct ring_taker taker = {take, &drain};

    return ring_reader_take(events->reader, &taker);
}
