/* SPDX-License-Identifier: MIT */
/*
 * Searches over the points of a relocated run. Invariant: points are ordered by their place in the copy. No lock: a map
 * is written once, then only read.
 */
#include "arch/x86_64/isa/relocation_map.h"

#include "base/partition_point.h"

#include <asm/errno.h>

void x86_relocation_map_init(struct x86_relocation_map *map, struct x86_relocation_point *points, uint32_t capacity)
{
    *map = (struct x86_relocation_map){.points = points, .capacity = capacity};
}

const struct x86_relocation_point *x86_relocation_map_find(const struct x86_relocation_map *map, struct cache_pc pc)
{
    uint64_t offset = pc.value - map->cache_start.value;
    size_t low;

    if (offset >= map->cache_size)
        return NULL;
    low = PARTITION_POINT(map->count, i, map->points[i].cache_offset <= offset);
    return low == 0 ? NULL : &map->points[low - 1];
}

int x86_relocation_map_start(const struct x86_relocation_map *map, struct app_pc app_pc, struct cache_pc *pc_out)
{
    for (uint32_t i = map->count; i-- > 0;) {
        if (map->points[i].undo.is_start && map->points[i].app_pc.value == app_pc.value) {
            *pc_out = cache_pc_of(map->cache_start.value + map->points[i].cache_offset);
            return 0;
        }
    }
    return -ENOENT;
}
