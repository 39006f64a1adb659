/* SPDX-License-Identifier: MIT */
/*
 * A counter hands out the places, one after the other, round and round. Each has a sequence number, which is written
 * last, and is looked at again when the rest was copied. Whoever finds that somebody else is still writing there, since
 * a round ago, or has already written what comes a round later, gives up: a trigger that does not come is passed over
 * by the reader the second time that it looks for it, and counts as missing.
 */
#include "ring/trigger_log.h"

#include "base/memory_barrier.h"
#include "ring/ring_reader.h"
#include "ring/ring_region.h"

#include <stdatomic.h>

#define BUSY          UINT64_MAX
#define TRIGGER_WORDS (sizeof(struct ring_trigger) / sizeof(uint64_t))

struct trigger_entry {
    _Atomic uint64_t sequence;             /* 1 + that of the trigger here; 0: none yet; BUSY: somebody writes */
    _Atomic uint64_t words[TRIGGER_WORDS]; /* struct ring_trigger */
};

struct trigger_log {
    _Atomic uint64_t claimed;
    struct trigger_entry entries[RING_TRIGGERS_KEPT];
};

_Static_assert(sizeof(struct trigger_log) <= RING_TRIGGERS_BYTES, "there is room for it");
_Static_assert(sizeof(struct ring_trigger) % sizeof(uint64_t) == 0, "it is words");

static void write_words(struct trigger_entry *entry, const struct ring_trigger *trigger)
{
    uint64_t words[TRIGGER_WORDS];

    __builtin_memcpy(words, trigger, sizeof(words));
    for (size_t i = 0; i < TRIGGER_WORDS; i++)
        atomic_store_explicit(&entry->words[i], words[i], memory_order_relaxed);
}

static void read_words(const struct trigger_entry *entry, struct ring_trigger *trigger_out)
{
    uint64_t words[TRIGGER_WORDS];

    for (size_t i = 0; i < TRIGGER_WORDS; i++)
        words[i] = atomic_load_explicit(&entry->words[i], memory_order_relaxed);
    __builtin_memcpy(trigger_out, words, sizeof(words));
}

void trigger_log_add(struct ring_region *region, const struct ring_trigger *trigger)
{
    struct trigger_log *log = (struct trigger_log *)(void *)(region->base + RING_TRIGGERS_OFFSET);
    uint64_t sequence = atomic_fetch_add_explicit(&log->claimed, 1, memory_order_relaxed);
    struct trigger_entry *entry = &log->entries[sequence % RING_TRIGGERS_KEPT];
    uint64_t before = atomic_load_explicit(&entry->sequence, memory_order_relaxed);

    if (before > sequence || !atomic_compare_exchange_strong_explicit(&entry->sequence, &before, BUSY,
                                                                      memory_order_acquire, memory_order_relaxed))
        return;
    memory_barrier();
    write_words(entry, trigger);
    /* Release: pairs with the acquire in read_entry. */
    atomic_store_explicit(&entry->sequence, sequence + 1, memory_order_release);
}

/* Whether the trigger of that number is there. */
static bool read_entry(const struct trigger_log *log, uint64_t sequence, struct ring_trigger *trigger_out)
{
    const struct trigger_entry *entry = &log->entries[sequence % RING_TRIGGERS_KEPT];

    if (atomic_load_explicit(&entry->sequence, memory_order_acquire) != sequence + 1)
        return false;
    read_words(entry, trigger_out);
    memory_barrier();
    return atomic_load_explicit(&entry->sequence, memory_order_relaxed) == sequence + 1;
}

static void pass_over(struct trigger_log_place *place, uint64_t count)
{
    place->next += count;
    place->missed += count;
}

bool trigger_log_next(const struct ring_reader *reader, struct trigger_log_place *place,
                      struct ring_trigger *trigger_out, uint64_t *missed_out)
{
    const struct trigger_log *log = (const struct trigger_log *)(const void *)(reader->base + RING_TRIGGERS_OFFSET);
    uint64_t claimed = atomic_load_explicit(&log->claimed, memory_order_acquire);
    struct ring_trigger copy;

    /* The oldest may be overwritten at any moment: so some more are left out. */
    if (claimed > place->next && claimed - place->next > RING_TRIGGERS_KEPT)
        pass_over(place, claimed - RING_TRIGGERS_KEPT / 2 - place->next);
    while (claimed > place->next && !read_entry(log, place->next, &copy)) {
        if (place->awaited != place->next + 1) {
            place->awaited = place->next + 1;
            return false;
        }
        pass_over(place, 1);
    }
    if (claimed <= place->next)
        return false;
    place->next++;
    *trigger_out = copy;
    *missed_out = place->missed;
    place->missed = 0;
    return true;
}
