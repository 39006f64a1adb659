/* SPDX-License-Identifier: MIT */
/*
 * A counter hands out the places, one after the other, round and round. Each has a sequence number, which is written
 * last, and is looked at again when the rest was copied.
 */
#include "ring/trigger_log.h"

#include "base/memory_barrier.h"
#include "ring/ring_reader.h"
#include "ring/ring_region.h"

#include <stdatomic.h>

struct entry {
    _Atomic uint64_t sequence; /* 1 + that of the trigger that is here; 0: none yet, or one is being written */
    struct ring_trigger trigger;
};

struct log {
    _Atomic uint64_t claimed;
    struct entry entries[RING_TRIGGERS_KEPT];
};

_Static_assert(sizeof(struct log) <= RING_TRIGGERS_BYTES, "there is room for it");

void trigger_log_add(struct ring_region *region, const struct ring_trigger *trigger)
{
    struct log *log = (struct log *)(void *)(region->base + RING_TRIGGERS_OFFSET);
    uint64_t sequence = atomic_fetch_add_explicit(&log->claimed, 1, memory_order_relaxed);
    struct entry *entry = &log->entries[sequence % RING_TRIGGERS_KEPT];

    atomic_store_explicit(&entry->sequence, 0, memory_order_relaxed);
    memory_barrier();
    entry->trigger = *trigger;
    /* Release: pairs with the acquire in trigger_log_next. */
    atomic_store_explicit(&entry->sequence, sequence + 1, memory_order_release);
}

bool trigger_log_next(const struct ring_reader *reader, struct trigger_log_place *place,
                      struct ring_trigger *trigger_out, uint64_t *missed_out)
{
    const struct log *log = (const struct log *)(const void *)(reader->base + RING_TRIGGERS_OFFSET);
    uint64_t claimed = atomic_load_explicit(&log->claimed, memory_order_acquire);
    const struct entry *entry;
    uint64_t sequence = place->next;
    struct ring_trigger copy;

    *missed_out = 0;
    /* What is not a count of them, either. */
    if (claimed <= sequence)
        return false;
    /* The oldest may be overwritten at any moment: so some more are left out. */
    if (claimed - sequence > RING_TRIGGERS_KEPT) {
        *missed_out = claimed - RING_TRIGGERS_KEPT / 2 - sequence;
        sequence = claimed - RING_TRIGGERS_KEPT / 2;
    }
    entry = &log->entries[sequence % RING_TRIGGERS_KEPT];
    if (atomic_load_explicit(&entry->sequence, memory_order_acquire) != sequence + 1)
        return false;
    copy = entry->trigger;
    memory_barrier();
    if (atomic_load_explicit(&entry->sequence, memory_order_relaxed) != sequence + 1)
        return false;
    *trigger_out = copy;
    place->next = sequence + 1;
    return true;
}
