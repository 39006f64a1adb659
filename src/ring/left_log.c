/* SPDX-License-Identifier: MIT */
/* A counter hands out the places; the reason is written last, and shows that the rest is there. Nothing is changed. */
#include "ring/left_log.h"

#include "ring/ring_reader.h"
#include "ring/ring_region.h"

#include <stdatomic.h>

struct left_log {
    _Atomic uint64_t count;
    struct ring_left entries[RING_LEFT_KEPT];
};

_Static_assert(sizeof(struct left_log) <= RING_LEFT_BYTES, "there is room for it");

void left_log_add(struct ring_region *region, const struct ring_left *left)
{
    struct left_log *log = (struct left_log *)(void *)(region->base + RING_LEFT_OFFSET);
    uint64_t index = atomic_fetch_add_explicit(&log->count, 1, memory_order_relaxed);
    struct ring_left *entry = &log->entries[index % RING_LEFT_KEPT];

    if (index >= RING_LEFT_KEPT)
        return;
    entry->time = left->time;
    entry->pc = left->pc;
    entry->tid = left->tid;
    entry->code_bytes = left->code_bytes;
    __builtin_memcpy(entry->code, left->code, sizeof(entry->code));
    /* Release: pairs with the acquire in left_log_read. */
    __atomic_store_n(&entry->reason, left->reason, __ATOMIC_RELEASE);
}

static const struct left_log *log_of(const struct ring_reader *reader)
{
    return (const struct left_log *)(const void *)(reader->base + RING_LEFT_OFFSET);
}

uint64_t left_log_count(const struct ring_reader *reader)
{
    return atomic_load_explicit(&log_of(reader)->count, memory_order_relaxed);
}

size_t left_log_read(const struct ring_reader *reader, struct ring_left *left_out, size_t capacity)
{
    size_t count = 0;

    for (size_t i = 0; i < RING_LEFT_KEPT && count < capacity; i++) {
        const struct ring_left *entry = &log_of(reader)->entries[i];
        uint32_t reason = __atomic_load_n(&entry->reason, __ATOMIC_ACQUIRE);

        if (reason == 0 || reason >= RING_LEFT_REASONS)
            continue;
        left_out[count] = *entry;
        left_out[count].reason = reason;
        if (left_out[count].code_bytes > RING_LEFT_CODE_BYTES)
            left_out[count].code_bytes = RING_LEFT_CODE_BYTES;
        count++;
    }
    return count;
}
