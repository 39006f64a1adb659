/* SPDX-License-Identifier: MIT */
/*
 * A sorted array of ranges in mapped memory that doubles when it is full. Invariant: each range's start is below its
 * end, and its end not above the next one's start. No lock: the owner has it.
 */
#include "base/interval_map.h"

#include "base/assert.h"
#include "base/mapped_array.h"
#include "base/partition_point.h"

#include <asm/errno.h>

void interval_map_init(struct interval_map *map)
{
    *map = (struct interval_map){0};
}

void interval_map_deinit(struct interval_map *map)
{
    ASSERT(interval_map_check(map), "an interval map was damaged");
    MAPPED_ARRAY_RELEASE(map->intervals, map->capacity);
    interval_map_init(map);
}

/* Moves the ranges from `index` on to `to`, and changes their number by as much. */
static void move_from(struct interval_map *map, size_t index, size_t to)
{
    __builtin_memmove(map->intervals + to, map->intervals + index, (map->count - index) * sizeof(struct interval));
    map->count += to - index;
}

static int insert_at(struct interval_map *map, size_t index, struct interval interval)
{
    int result = MAPPED_ARRAY_RESERVE(map->intervals, map->capacity, map->count + 1);

    if (result != 0)
        return result;
    move_from(map, index, index + 1);
    map->intervals[index] = interval;
    return 0;
}

size_t interval_map_index_from(const struct interval_map *map, uint64_t address)
{
    return PARTITION_POINT(map->count, i, map->intervals[i].end <= address);
}

bool interval_map_overlaps(const struct interval_map *map, uint64_t start, uint64_t end)
{
    size_t index = interval_map_index_from(map, start);

    return start < end && index < map->count && map->intervals[index].start < end;
}

int interval_map_insert(struct interval_map *map, uint64_t start, uint64_t end, uint64_t value)
{
    if (start >= end)
        return -EINVAL;
    if (interval_map_overlaps(map, start, end))
        return -EEXIST;
    return insert_at(map, interval_map_index_from(map, start), (struct interval){start, end, value});
}

/* Makes two ranges of one that reaches over both edges. */
static int split(struct interval_map *map, size_t index, uint64_t start, uint64_t end)
{
    struct interval behind = map->intervals[index];
    int result;

    behind.start = end;
    result = insert_at(map, index + 1, behind);
    if (result == 0)
        map->intervals[index].end = start;
    return result;
}

int interval_map_remove(struct interval_map *map, uint64_t start, uint64_t end)
{
    size_t first = interval_map_index_from(map, start);
    size_t last = first;

    if (start >= end)
        return -EINVAL;
    if (first < map->count && map->intervals[first].start < start) {
        if (map->intervals[first].end > end)
            return split(map, first, start, end);
        map->intervals[first++].end = start;
        last = first;
    }
    while (last < map->count && map->intervals[last].end <= end)
        last++;
    if (last < map->count && map->intervals[last].start < end)
        map->intervals[last].start = end;
    if (last != first)
        move_from(map, last, first);
    return 0;
}

bool interval_map_find(const struct interval_map *map, uint64_t address, struct interval *interval_out)
{
    size_t index = interval_map_index_from(map, address);

    if (index == map->count || map->intervals[index].start > address)
        return false;
    *interval_out = map->intervals[index];
    return true;
}

bool interval_map_check(const struct interval_map *map)
{
    if (map->count > map->capacity)
        return false;
    for (size_t i = 0; i < map->count; i++) {
        if (map->intervals[i].start >= map->intervals[i].end)
            return false;
        if (i > 0 && map->intervals[i - 1].end > map->intervals[i].start)
            return false;
    }
    return true;
}
