/* SPDX-License-Identifier: MIT */
/*
 * Records to events. What a record leaves out is found in its block; the depth of calls and returns is found by keeping
 * the calls that have not returned: stack pointers tell which ones a longjmp or an exception left behind, return
 * addresses which one a return belongs to.
 */
#include "stalker/event_buffer.h"

#include "base/memory_map.h"
#include "stalker/code_cache.h"
#include "stalker/event_layout.h"

#include <asm/errno.h>

#define FRAMES_AT_FIRST 4096
#define BATCH           256

/* Events on their way to the receiver. */
struct batch {
    struct event_buffer *buffer;
    const struct code_cache *cache;
    uint32_t wanted; /* of enum gait_event_kind */
    uint32_t header_bytes;
    size_t count;
    struct gait_event events[BATCH];
};

static uint8_t *first_usable(const struct event_buffer *buffer)
{
    return (uint8_t *)(uintptr_t)buffer->start;
}

int event_buffer_create(size_t size_bytes, struct event_buffer **buffer_out)
{
    struct event_buffer *buffer;
    size_t rounded = memory_round_to_pages(size_bytes);
    void *storage, *reserved;
    int result;

    if (rounded == 0 || rounded > EVENT_BUFFER_BYTES_MAX)
        return -EINVAL;
    result = memory_map(sizeof(*buffer), &storage);
    if (result != 0)
        return result;
    buffer = storage;
    buffer->reserved_bytes = 2 * EVENT_END_ALIGNMENT + EVENT_SLACK_BYTES;
    result = memory_reserve(buffer->reserved_bytes, &reserved);
    if (result != 0) {
        memory_unmap(buffer, sizeof(*buffer));
        return result;
    }
    buffer->reserved = reserved;
    buffer->end = ((uintptr_t)reserved + rounded + EVENT_END_ALIGNMENT - 1) & ~(uint64_t)(EVENT_END_ALIGNMENT - 1);
    buffer->start = buffer->end - rounded;
    result = memory_protect(first_usable(buffer), rounded + EVENT_SLACK_BYTES, MEMORY_READ_WRITE);
    if (result != 0) {
        event_buffer_destroy(buffer);
        return result;
    }
    *buffer_out = buffer;
    return 0;
}

void event_buffer_destroy(struct event_buffer *buffer)
{
    if (buffer == NULL)
        return;
    memory_unmap(buffer->frames, buffer->frame_capacity * sizeof(*buffer->frames));
    memory_unmap(buffer->reserved, buffer->reserved_bytes);
    memory_unmap(buffer, sizeof(*buffer));
}

static void deliver(struct batch *batch)
{
    struct event_buffer *buffer = batch->buffer;

    if (batch->count != 0 && !buffer->is_closed &&
        buffer->receiver.process(buffer->receiver.context, batch->events, batch->count) != 0)
        buffer->is_closed = true;
    batch->count = 0;
}

static void add(struct batch *batch, uint32_t kind, uint64_t location, uint64_t target, int32_t depth)
{
    if (!(batch->wanted & kind))
        return;
    if (batch->count == BATCH)
        deliver(batch);
    batch->events[batch->count++] = (struct gait_event){
        .kind = kind,
        .depth = depth,
        .location = location,
        .target = target,
        .tid = batch->buffer->tid,
    };
}

static int32_t depth_of(const struct event_buffer *buffer)
{
    return (int32_t)buffer->frame_count + buffer->depth_below;
}

static bool grow_frames(struct event_buffer *buffer)
{
    size_t capacity = buffer->frame_capacity == 0 ? FRAMES_AT_FIRST : 2 * buffer->frame_capacity;
    void *storage;

    if (memory_map(capacity * sizeof(*buffer->frames), &storage) != 0)
        return false;
    if (buffer->frames != NULL)
        __builtin_memcpy(storage, buffer->frames, buffer->frame_count * sizeof(*buffer->frames));
    memory_unmap(buffer->frames, buffer->frame_capacity * sizeof(*buffer->frames));
    buffer->frames = storage;
    buffer->frame_capacity = capacity;
    return true;
}

static void enter_call(struct batch *batch, const struct block *block, uint64_t sp, uint64_t target)
{
    struct event_buffer *buffer = batch->buffer;

    while (buffer->frame_count > 0 && buffer->frames[buffer->frame_count - 1].sp <= sp)
        buffer->frame_count--;
    add(batch, GAIT_EVENT_CALL, block_last_insn(block).value, target, depth_of(buffer));
    if (buffer->frame_count == buffer->frame_capacity && !grow_frames(buffer))
        return;
    buffer->frames[buffer->frame_count++] = (struct event_frame){sp, block_end(block).value};
}

static void leave_call(struct batch *batch, const struct block *block, uint64_t target)
{
    struct event_buffer *buffer = batch->buffer;
    size_t frame = buffer->frame_count;

    while (frame > 0 && buffer->frames[frame - 1].return_address != target)
        frame--;
    /* Calls above the one that returns were left by a longjmp. */
    if (frame > 0)
        buffer->frame_count = frame;
    add(batch, GAIT_EVENT_RET, block_last_insn(block).value, target, depth_of(buffer));
    if (buffer->frame_count == 0)
        buffer->depth_below--;
    else if (frame > 0)
        buffer->frame_count--;
}

static void add_block(struct batch *batch, const struct block *block)
{
    uint64_t location = block->start.value;

    add(batch, GAIT_EVENT_BLOCK, block->start.value, block_end(block).value, 0);
    if (!(batch->wanted & GAIT_EVENT_EXEC))
        return;
    for (uint32_t i = 0; i < block->insn_count; i++) {
        if (!(block->insn_lengths[i] & BLOCK_INSN_LEFT_OUT))
            add(batch, GAIT_EVENT_EXEC, location, 0, 0);
        location += block->insn_lengths[i] & ~BLOCK_INSN_LEFT_OUT;
    }
}

static uint64_t word_at(uint64_t place)
{
    return *(const uint64_t *)(uintptr_t)place;
}

/* Adds the events of the record at a place and returns where the next one is. */
static uint64_t take_record(struct batch *batch, uint64_t place)
{
    uint32_t header = *(const uint32_t *)(uintptr_t)place;
    const struct block *block = code_cache_block(batch->cache, header >> EVENT_KIND_BITS);

    place += batch->header_bytes;
    switch ((enum event_record)(header & ((1u << EVENT_KIND_BITS) - 1))) {
    case EVENT_RECORD_BLOCK:
        add_block(batch, block);
        return place;
    case EVENT_RECORD_CALL:
        add_block(batch, block);
        enter_call(batch, block, word_at(place), block->exits[0].target.value);
        return place + 8;
    case EVENT_RECORD_CALL_TARGET:
        add_block(batch, block);
        enter_call(batch, block, word_at(place), word_at(place + 8));
        return place + 16;
    case EVENT_RECORD_RETURN_LATE:
        leave_call(batch, block, word_at(place));
        return place + 8;
    case EVENT_RECORD_RETURN:
        add_block(batch, block);
        leave_call(batch, block, word_at(place));
        return place + 8;
    default:
        add(batch, GAIT_EVENT_COMPILE, block->start.value, block_end(block).value, 0);
        return place;
    }
}

void event_buffer_drain(struct event_buffer *buffer, const struct code_cache *cache, uint64_t position)
{
    struct batch batch; /* its events are filled one by one */
    uint64_t place = buffer->start;

    batch.buffer = buffer;
    batch.cache = cache;
    batch.wanted = cache->configuration.events;
    batch.header_bytes = event_header_bytes(cache->configuration.events);
    batch.count = 0;

    if (buffer->receiver.process == NULL) {
        buffer->lost_bytes += position - place;
        return;
    }
    buffer->is_draining = true;
    while (place < position && !buffer->is_closed) {
        uint64_t next = take_record(&batch, place);

        /* A record that was under way when the receiver had enough is lost like those behind it. */
        if (!buffer->is_closed)
            place = next;
    }
    deliver(&batch);
    buffer->is_draining = false;
    buffer->lost_bytes += position - place;
}
