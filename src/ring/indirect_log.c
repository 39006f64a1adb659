/* SPDX-License-Identifier: MIT */
/* A place is taken, written and then told of. Nothing is changed. */
#include "ring/indirect_log.h"

#include "ring/ring_reader.h"
#include "ring/ring_region.h"

_Static_assert(RING_INDIRECT_KEPT * sizeof(struct ring_indirect) <= RING_INDIRECT_BYTES, "there is room for it");

void indirect_log_add(struct ring_region *region, uint64_t address, const char *name)
{
    struct ring_indirect *entries = (struct ring_indirect *)(void *)(region->base + RING_INDIRECT_OFFSET);

    for (size_t i = 0; i < RING_INDIRECT_KEPT; i++) {
        struct ring_indirect *entry = &entries[i];

        if (__atomic_exchange_n(&entry->is_taken, 1, __ATOMIC_RELAXED) != 0)
            continue;
        entry->address = address;
        for (size_t at = 0; at + 1 < RING_INDIRECT_NAME_BYTES && name[at] != '\0'; at++)
            entry->name[at] = name[at];
        /* Release: pairs with the acquire in indirect_log_read. */
        __atomic_store_n(&entry->is_written, 1, __ATOMIC_RELEASE);
        return;
    }
}

size_t indirect_log_read(const struct ring_reader *reader, struct ring_indirect *indirect_out, size_t capacity)
{
    const struct ring_indirect *entries =
        (const struct ring_indirect *)(const void *)(reader->base + RING_INDIRECT_OFFSET);
    size_t count = 0;

    for (size_t i = 0; i < RING_INDIRECT_KEPT && count < capacity; i++) {
        if (__atomic_load_n(&entries[i].is_written, __ATOMIC_ACQUIRE) == 0)
            continue;
        indirect_out[count] = entries[i];
        indirect_out[count].name[RING_INDIRECT_NAME_BYTES - 1] = '\0';
        count++;
    }
    return count;
}
