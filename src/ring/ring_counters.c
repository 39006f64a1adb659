/* SPDX-License-Identifier: MIT */
/* What a reader finds may be anything: it is only ever a number, and how many there are is the reader's own affair. */
#include "ring/ring_counters.h"

#include "base/counters.h"
#include "ring/ring_reader.h"
#include "ring/ring_region.h"

#include <stdatomic.h>

_Static_assert((unsigned)COUNTER_COUNT <= RING_COUNTERS_MAX, "there is room for all counters");

static struct ring_counters *counters_in(uint8_t *base)
{
    return (struct ring_counters *)(void *)(base + RING_COUNTERS_OFFSET);
}

void ring_counters_begin(struct ring_region *region)
{
    struct ring_counters *counters = counters_in(region->base);

    counters_move(counters->values);
    /* Release: pairs with the acquire in ring_counters_read. */
    __atomic_store_n(&counters->count, COUNTER_COUNT, __ATOMIC_RELEASE);
}

void ring_counters_read(const struct ring_reader *reader, struct counters_snapshot *snapshot_out)
{
    const struct ring_counters *counters = counters_in(reader->base);

    *snapshot_out = (struct counters_snapshot){.values = {0}};
    if (__atomic_load_n(&counters->count, __ATOMIC_ACQUIRE) != COUNTER_COUNT)
        return;
    for (unsigned i = 0; i < COUNTER_COUNT; i++)
        snapshot_out->values[i] = atomic_load_explicit(&counters->values[i], memory_order_relaxed);
}
