/* SPDX-License-Identifier: MIT */
/* The decoder does the work; blocks are those of the cache that the thread runs in. */
#include "stalker/event_buffer.h"

#include "arch/engine.h"
#include "base/memory_map.h"
#include "base/time_counter.h"
#include "ring/event_record.h"
#include "ring/ring_writer.h"
#include "stalker/code_cache.h"
#include "stalker/code_place.h"
#include "stalker/stalker_engine.h"
#include "stalker/thread.h"
#include "stalker/trail.h"

#include <asm/errno.h>

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

static struct ring_lane_owner owner_of(const struct code_cache *cache, uint32_t tid, bool is_whole)
{
    return (struct ring_lane_owner){
        .tid = tid,
        .events = cache->configuration.events,
        .space = cache->ring_space,
        .with_times = cache->configuration.times,
        .is_whole = is_whole,
    };
}

int event_buffer_create_in_ring(const struct code_cache *cache, uint32_t tid, bool is_whole,
                                struct event_buffer **buffer_out)
{
    const struct ring_lane_owner owner = owner_of(cache, tid, is_whole);
    struct event_buffer *buffer;
    void *storage;
    int result = memory_map(sizeof(*buffer), &storage);

    if (result != 0)
        return result;
    buffer = storage;
    result = ring_writer_open(cache->configuration.ring, &owner, &buffer->ring);
    if (result != 0) {
        memory_unmap(buffer, sizeof(*buffer));
        return result;
    }
    buffer->start = buffer->ring->start;
    buffer->end = buffer->ring->end;
    *buffer_out = buffer;
    return 0;
}

void event_buffer_begin_in_ring(struct event_buffer *buffer, const struct code_cache *cache, uint32_t tid)
{
    const struct ring_lane_owner owner = owner_of(cache, tid, false);

    ring_writer_begin(buffer->ring, cache->configuration.ring, &owner);
    buffer->start = buffer->ring->start;
    buffer->end = buffer->ring->end;
    buffer->lost_bytes = 0;
}

void event_buffer_forget_ring(struct event_buffer *buffer)
{
    if (buffer->ring != NULL)
        ring_writer_forget(buffer->ring);
    buffer->ring = NULL;
}

void event_buffer_destroy(struct event_buffer *buffer)
{
    if (buffer == NULL)
        return;
    event_buffer_end(buffer, buffer->start);
    event_decoder_deinit(&buffer->decoder);
    memory_unmap(buffer->reserved, buffer->reserved_bytes);
    memory_unmap(buffer, sizeof(*buffer));
}

void event_buffer_set_tid(struct event_buffer *buffer, uint32_t tid)
{
    buffer->decoder.tid = tid;
    if (buffer->ring != NULL)
        ring_writer_set_tid(buffer->ring, tid);
}

void event_buffer_set_name(struct event_buffer *buffer, const char *name)
{
    if (buffer->ring != NULL)
        ring_writer_set_name(buffer->ring, name);
}

void event_buffer_set(struct event_buffer *buffer, uint32_t events, bool with_times, struct event_receiver receiver)
{
    buffer->decoder.wanted = events;
    buffer->decoder.with_times = with_times;
    buffer->decoder.receiver = receiver;
}

static bool find_block(const void *context, uint32_t number, struct event_block *block_out)
{
    code_cache_describe(context, code_cache_block(context, number), block_out);
    return true;
}

/* What readers can see is written already. */
static uint64_t go_on_in_ring(struct event_buffer *buffer, uint64_t position, const _Atomic uint32_t *give_up)
{
    if (position < buffer->end)
        return position;
    buffer->lost_bytes += ring_writer_next(buffer->ring, position, give_up);
    buffer->start = buffer->ring->start;
    buffer->end = buffer->ring->end;
    return buffer->start;
}

uint64_t event_buffer_drain(struct event_buffer *buffer, const struct code_cache *cache, uint64_t position,
                            enum event_place place, const _Atomic uint32_t *give_up)
{
    const struct event_blocks blocks = {find_block, cache};
    const uint8_t *end = (const uint8_t *)(uintptr_t)position;
    const uint8_t *taken = first_usable(buffer);
    int error;

    if (buffer->ring != NULL)
        return go_on_in_ring(buffer, position, give_up);
    if (buffer->decoder.receiver.process != NULL) {
        buffer->is_draining = true;
        taken = event_decoder_run(&buffer->decoder, &blocks, taken, end, &error);
        if (place == EVENT_PLACE_BETWEEN_BLOCKS)
            event_decoder_finish(&buffer->decoder);
        buffer->is_draining = false;
    }
    buffer->lost_bytes += (uint64_t)(end - taken);
    return buffer->start;
}

void event_buffer_end(struct event_buffer *buffer, uint64_t position)
{
    if (buffer->ring != NULL)
        buffer->lost_bytes += ring_writer_close(buffer->ring, position);
    buffer->ring = NULL;
}

/* ---- records that the engine writes ------------------------------------------------------------------------------ */

void event_write(struct stalker_thread *thread, uint32_t number, enum event_record record)
{
    uint8_t *place = (uint8_t *)(uintptr_t)thread->event_position;
    const struct follow_configuration *configuration = &thread->observed_cache->configuration;
    struct event_format format = event_format_of(configuration->events, configuration->times);
    uint64_t time;

    if (event_record_has_time(format, record)) {
        time = time_counter();
        __builtin_memcpy(place + event_time_offset(format, record), &time, sizeof(time));
    }
    /* Whoever reads the header finds all of the record. */
    __atomic_store_n((uint32_t *)(void *)place, event_header(number, record), __ATOMIC_RELEASE);
    thread->event_position += event_record_bytes(format, record);
}

void event_cut_at(struct stalker_thread *thread, uint64_t cache_pc)
{
    struct gait_cpu_context cpu = thread->context;
    struct callout_behind behind = thread->behind;
    struct code_place place;

    if (thread->events == NULL || !code_cache_place_at(thread->cache, cache_pc_of(cache_pc), &place))
        return;
    cpu.pc = cache_pc;
    cpu.registers[thread->engine->machine->place->position_register] = thread->event_position;
    if (trail_recover(thread, &place, &cpu) != 0)
        thread->event_cut.is_cut = false;
    thread->behind = behind;
}

void event_write_cut(struct stalker_thread *thread)
{
    const struct event_cut *cut = &thread->event_cut;

    if (!cut->is_cut || thread->events == NULL)
        return;
    thread->event_cut.is_cut = false;
    if (!cut->is_told && cut->ran_bytes == 0)
        return;
    if (!cut->is_told)
        event_write(thread, cut->block, EVENT_RECORD_BLOCK);
    event_write(thread, cut->ran_bytes, EVENT_RECORD_CUT);
}
