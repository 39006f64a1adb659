/* SPDX-License-Identifier: MIT */
/* The header's counter hands out the places; that one is written shows that the rest is there. Nothing is changed. */
#include "ring/unhooked_log.h"

#include "ring/ring_reader.h"
#include "ring/ring_region.h"

#include <stdatomic.h>

_Static_assert(RING_UNHOOKED_KEPT * sizeof(struct ring_unhooked) <= RING_UNHOOKED_BYTES, "there is room for it");

void unhooked_log_add(struct ring_region *region, const struct ring_unhooked *unhooked)
{
    struct ring_unhooked *entries = (struct ring_unhooked *)(void *)(region->base + RING_UNHOOKED_OFFSET);
    uint64_t index = ring_region_note_not_hooked(region);
    struct ring_unhooked *entry = &entries[index % RING_UNHOOKED_KEPT];

    if (index >= RING_UNHOOKED_KEPT)
        return;
    entry->is_named = unhooked->is_named;
    __builtin_memcpy(entry->name, unhooked->name, sizeof(entry->name));
    __builtin_memcpy(entry->why, unhooked->why, sizeof(entry->why));
    /* Release: pairs with the acquire in unhooked_log_read. */
    __atomic_store_n(&entry->is_written, 1, __ATOMIC_RELEASE);
}

uint64_t unhooked_log_count(const struct ring_reader *reader)
{
    struct ring_losses losses;

    ring_reader_losses(reader, &losses);
    return losses.not_hooked_count;
}

size_t unhooked_log_read(const struct ring_reader *reader, struct ring_unhooked *unhooked_out, size_t capacity)
{
    const struct ring_unhooked *entries =
        (const struct ring_unhooked *)(const void *)(reader->base + RING_UNHOOKED_OFFSET);
    size_t count = 0;

    for (size_t i = 0; i < RING_UNHOOKED_KEPT && count < capacity; i++) {
        if (__atomic_load_n(&entries[i].is_written, __ATOMIC_ACQUIRE) == 0)
            continue;
        unhooked_out[count] = entries[i];
        unhooked_out[count].name[RING_UNHOOKED_NAME_BYTES - 1] = '\0';
        unhooked_out[count].why[RING_UNHOOKED_WHY_BYTES - 1] = '\0';
        count++;
    }
    return count;
}
