/* SPDX-License-Identifier: MIT */
/*
 * A word says how much is reserved; the size of a record, stored last, that it is written. One that was never finished,
 * because the process was gone by then, hides those behind it.
 */
#include "ring/crash_lane.h"

#include "base/alignment.h"
#include "ring/ring_reader.h"
#include "ring/ring_region.h"

#include <stdatomic.h>

struct crash_records {
    _Atomic uint64_t used_bytes;
    uint8_t records[];
};

#define ROOM_BYTES (RING_CRASHES_BYTES - sizeof(struct crash_records))

void *crash_lane_reserve(struct ring_region *region, size_t size_bytes)
{
    struct crash_records *lane = (struct crash_records *)(void *)(region->base + RING_CRASHES_OFFSET);
    uint64_t used = atomic_load_explicit(&lane->used_bytes, memory_order_relaxed);

    do
        if (size_bytes > ROOM_BYTES || used > ROOM_BYTES - align_up(size_bytes, 8))
            return NULL;
    while (!atomic_compare_exchange_weak_explicit(&lane->used_bytes, &used, used + align_up(size_bytes, 8),
                                                  memory_order_relaxed, memory_order_relaxed));
    return lane->records + used;
}

void crash_lane_commit(void *place, size_t size_bytes, enum crash_record_kind kind)
{
    struct crash_record *record = place;

    record->kind = kind;
    /* Release: pairs with the acquire in crash_lane_read. */
    __atomic_store_n(&record->size_bytes, (uint32_t)align_up(size_bytes, 8), __ATOMIC_RELEASE);
}

static size_t check_signal(const uint8_t *place, size_t size_bytes)
{
    struct crash_signal signal;

    if (size_bytes < sizeof(signal))
        return 0;
    __builtin_memcpy(&signal, place, sizeof(signal));
    if (signal.register_count > CRASH_REGISTERS_MAX || signal.stack_bytes > size_bytes - sizeof(signal))
        return 0;
    return size_bytes;
}

static size_t check_thread(const uint8_t *place, size_t size_bytes)
{
    struct crash_thread thread;

    if (size_bytes < sizeof(thread))
        return 0;
    __builtin_memcpy(&thread, place, sizeof(thread));
    return thread.stack_bytes > size_bytes - sizeof(thread) ? 0 : size_bytes;
}

size_t crash_record_check(const uint8_t *place, size_t available)
{
    struct crash_record record;

    if (available < sizeof(record))
        return 0;
    __builtin_memcpy(&record, place, sizeof(record));
    if (record.size_bytes < sizeof(record) || record.size_bytes % 8 != 0 || record.size_bytes > available)
        return 0;
    switch (record.kind) {
    case CRASH_SIGNAL:
        return check_signal(place, record.size_bytes);
    case CRASH_THREAD:
        return check_thread(place, record.size_bytes);
    default:
        return 0;
    }
}

size_t crash_lane_read(const struct ring_reader *reader, uint8_t *bytes_out, size_t capacity)
{
    const uint8_t *records = reader->base + RING_CRASHES_OFFSET + sizeof(struct crash_records);
    size_t room = capacity < ROOM_BYTES ? capacity : ROOM_BYTES, used = 0, size;

    do {
        const uint32_t *place = (const uint32_t *)(const void *)(records + used);

        size = room - used < sizeof(struct crash_record) ? 0 : __atomic_load_n(place, __ATOMIC_ACQUIRE);
        if (size > room - used || size % 8 != 0)
            size = 0;
        /* Checked in the copy: others may change it. */
        __builtin_memcpy(bytes_out + used, place, size);
        size = crash_record_check(bytes_out + used, size);
        used += size;
    } while (size != 0);
    return used;
}
