/* SPDX-License-Identifier: MIT */
/*
 * Ranges of 64-bit addresses that do not overlap, each with a value: modules, excluded code, protections. Finding is by
 * binary search; inserting and removing move what lies behind, which is right for the thousands of ranges that a
 * process has. The map owns its memory. One thread at a time, or many readers without a writer: the caller has the
 * lock. No libc; usable inside the target.
 */
#ifndef GAIT_BASE_INTERVAL_MAP_H
#define GAIT_BASE_INTERVAL_MAP_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses start <= a < end. */
struct interval {
    uint64_t start;
    uint64_t end;
    uint64_t value;
};

struct interval_map {
    struct interval *intervals; /* by address */
    size_t count;
    size_t capacity;
};

/* Begins an empty map; takes no memory yet. */
void interval_map_init(struct interval_map *map);

/* Gives all memory back; the map is empty again. */
void interval_map_deinit(struct interval_map *map);

/* Adds a range. -EINVAL: it is empty or ends before it starts; -EEXIST: it overlaps another; -ENOMEM. */
MUST_USE int interval_map_insert(struct interval_map *map, uint64_t start, uint64_t end, uint64_t value);

/*
 * Takes [start, end) out of all ranges: those inside go, those that reach over an edge are cut, one that reaches over
 * both is split. A range without ranges in it is fine. -EINVAL: as above; -ENOMEM: a split found no memory, nothing is
 * changed.
 */
MUST_USE int interval_map_remove(struct interval_map *map, uint64_t start, uint64_t end);

/* The range that contains the address. False: none, *interval_out is untouched. */
bool interval_map_find(const struct interval_map *map, uint64_t address, struct interval *interval_out);

/* The index of the first range that ends behind the address; the number of ranges when none does. */
size_t interval_map_index_from(const struct interval_map *map, uint64_t address);

/* Whether any address of [start, end) is in a range. */
bool interval_map_overlaps(const struct interval_map *map, uint64_t start, uint64_t end);

static inline size_t interval_map_count(const struct interval_map *map)
{
    return map->count;
}

/* The range with an index below the count, by address. Points into the map: good until the next change. */
static inline const struct interval *interval_map_at(const struct interval_map *map, size_t index)
{
    return &map->intervals[index];
}

/* Whether the ranges are in order, not empty and do not overlap. Walks everything. */
bool interval_map_check(const struct interval_map *map);

#endif
