/* SPDX-License-Identifier: MIT */
/*
 * Memory is cut into stretches, and each has the run of indices from its first block to its last one: blocks are
 * numbered as they are translated, neighbours one after the other, so that runs are short where it matters. The run of
 * the stretch that is being translated is kept aside, since most blocks begin in the same one as the block before.
 */
#include "stalker/block_places.h"

#define STRETCH_SHIFT 16

int block_places_init(struct block_places *places)
{
    *places = (struct block_places){.stretch = 0};
    return hash_map_init(&places->runs, 64);
}

void block_places_deinit(struct block_places *places)
{
    hash_map_deinit(&places->runs);
}

static struct block_run both(struct block_run one, struct block_run other)
{
    if (one.first == one.end)
        return other;
    if (other.first == other.end)
        return one;
    return (struct block_run){
        .first = one.first < other.first ? one.first : other.first,
        .end = one.end > other.end ? one.end : other.end,
    };
}

static struct block_run run_of(const struct block_places *places, uint64_t stretch)
{
    uint64_t packed;

    if (!hash_map_lookup(&places->runs, stretch, &packed))
        return (struct block_run){0, 0};
    return (struct block_run){(uint32_t)packed, (uint32_t)(packed >> 32)};
}

static void put_newest(struct block_places *places)
{
    struct block_run run = both(places->newest, run_of(places, places->stretch));

    if (run.first != run.end && hash_map_set(&places->runs, places->stretch, (uint64_t)run.end << 32 | run.first) != 0)
        places->is_incomplete = true;
    /* Nobody looks without the lock. */
    hash_map_reclaim(&places->runs);
    places->newest = (struct block_run){0, 0};
}

void block_places_add(struct block_places *places, uint64_t start, uint64_t end, uint32_t index)
{
    uint64_t stretch = start >> STRETCH_SHIFT;

    if (stretch != places->stretch) {
        put_newest(places);
        places->stretch = stretch;
    }
    places->newest = both(places->newest, (struct block_run){index, index + 1});
    if (end - start > places->longest_bytes)
        places->longest_bytes = end - start;
}

struct block_run block_places_between(struct block_places *places, uint64_t start, uint64_t end, uint32_t block_count)
{
    /* A block that begins before may reach there. */
    uint64_t first = (start > places->longest_bytes ? start - places->longest_bytes : 0) >> STRETCH_SHIFT;
    uint64_t last = (end - 1) >> STRETCH_SHIFT;
    struct block_run run = {0, 0};

    if (start >= end)
        return run;
    put_newest(places);
    if (places->is_incomplete || last - first >= block_count)
        return (struct block_run){0, block_count};
    for (uint64_t stretch = first; stretch <= last; stretch++)
        run = both(run, run_of(places, stretch));
    return run;
}
