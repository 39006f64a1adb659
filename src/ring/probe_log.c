/* SPDX-License-Identifier: MIT */
/* The bytes in use are counted last, by which what they are is there. The region's lock orders those who add. */
#include "ring/probe_log.h"

#include "base/alignment.h"
#include "ring/ring_reader.h"
#include "ring/ring_region.h"

#include <stdatomic.h>

struct probe_log {
    _Atomic uint64_t used_bytes;
    uint64_t reserved;
    uint8_t entries[];
};

#define ENTRIES_BYTES (RING_PROBES_BYTES - sizeof(struct probe_log))

static uint16_t at_most(uint32_t value, uint32_t most)
{
    return (uint16_t)(value < most ? value : most);
}

/* Names and the path come first; the arguments have what is left. */
static void clip(struct ring_probe *probe)
{
    uint32_t names;

    probe->provider_bytes = at_most(probe->provider_bytes, RING_PROBE_NAME_BYTES);
    probe->name_bytes = at_most(probe->name_bytes, RING_PROBE_NAME_BYTES);
    probe->path_bytes = at_most(probe->path_bytes, 2 * RING_PROBE_NAME_BYTES);
    names = (uint32_t)probe->provider_bytes + probe->name_bytes + probe->path_bytes;
    probe->arguments_bytes = at_most(probe->arguments_bytes, RING_PROBE_TEXT_BYTES - names);
}

static uint32_t texts_bytes(const struct ring_probe *probe)
{
    return (uint32_t)probe->provider_bytes + probe->name_bytes + probe->arguments_bytes + probe->path_bytes;
}

static uint8_t *put(uint8_t *place, const char *text, uint32_t bytes)
{
    __builtin_memcpy(place, text, bytes);
    return place + bytes;
}

bool probe_log_add(struct ring_region *region, const struct ring_probe *probe, struct ring_probe_texts texts)
{
    struct probe_log *log = (struct probe_log *)(void *)(region->base + RING_PROBES_OFFSET);
    struct ring_probe clipped = *probe;
    uint64_t used, bytes;
    bool has_room;

    clip(&clipped);
    bytes = align_up(sizeof(clipped) + texts_bytes(&clipped), 8);
    mutex_lock(&region->lock);
    used = atomic_load_explicit(&log->used_bytes, memory_order_relaxed);
    has_room = used <= ENTRIES_BYTES && ENTRIES_BYTES - used >= bytes;
    if (has_room) {
        uint8_t *place = put(log->entries + used, (const char *)&clipped, sizeof(clipped));

        place = put(place, texts.provider, clipped.provider_bytes);
        place = put(place, texts.name, clipped.name_bytes);
        place = put(place, texts.arguments, clipped.arguments_bytes);
        (void)put(place, texts.path, clipped.path_bytes);
        /* Release: pairs with the acquire in probe_log_next. */
        atomic_store_explicit(&log->used_bytes, used + bytes, memory_order_release);
    }
    mutex_unlock(&region->lock);
    return has_room;
}

bool probe_log_next(const struct ring_reader *reader, uint64_t *place_inout, struct probe_log_entry *entry_out)
{
    const struct probe_log *log = (const struct probe_log *)(const void *)(reader->base + RING_PROBES_OFFSET);
    uint64_t used = atomic_load_explicit(&log->used_bytes, memory_order_acquire), place = *place_inout;
    struct ring_probe probe;

    if (used > ENTRIES_BYTES || place >= used || used - place < sizeof(probe))
        return false;
    /* Copied before it is looked at: the process may change it. */
    __builtin_memcpy(&probe, log->entries + place, sizeof(probe));
    if (texts_bytes(&probe) > RING_PROBE_TEXT_BYTES || align_up(sizeof(probe) + texts_bytes(&probe), 8) > used - place)
        return false;
    entry_out->probe = probe;
    __builtin_memcpy(entry_out->texts, log->entries + place + sizeof(probe), texts_bytes(&probe));
    *place_inout = place + align_up(sizeof(probe) + texts_bytes(&probe), 8);
    return true;
}
