/* SPDX-License-Identifier: MIT */
/*
 * Searches over the points of a relocated run, and the recovery of the original registers. Invariant: points are
 * ordered by their place in the copy. No lock: a map is written once, then only read.
 */
#include "arch/x86_64/isa/relocation_map.h"

#include <asm/errno.h>

void x86_relocation_map_init(struct x86_relocation_map *map, struct x86_relocation_point *points, uint32_t capacity)
{
    *map = (struct x86_relocation_map){.points = points, .capacity = capacity};
}

const struct x86_relocation_point *x86_relocation_map_find(const struct x86_relocation_map *map, struct cache_pc pc)
{
    uint64_t offset = pc.value - map->cache_start.value;
    uint32_t low = 0, high = map->count;

    if (offset >= map->cache_size)
        return NULL;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (map->points[middle].cache_offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
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

static uint64_t read_saved(const struct x86_spill_memory *memory, uint64_t sp, uint8_t place)
{
    uint64_t address = memory->is_segment ? memory->segment_base + (uint64_t)(int64_t)memory->slots[place] : sp + place;
    uint64_t value;

    /* A program's rsp need not be aligned. */
    __builtin_memcpy(&value, (const void *)address, sizeof(value));
    return value;
}

int x86_relocation_recover(const struct x86_relocation_map *map, const struct x86_spill_memory *memory,
                           struct cache_pc pc, uint64_t gpr[X86_GPR_COUNT], struct app_pc *pc_out)
{
    const struct x86_relocation_point *point = x86_relocation_map_find(map, pc);
    uint64_t sp = gpr[X86_RSP], sp_original;

    if (point == NULL)
        return -ENOENT;
    *pc_out = point->app_pc;
    sp_original = point->undo.sp_from != X86_GPR_NONE ? gpr[point->undo.sp_from] : sp + point->undo.sp_add;
    gpr[X86_RSP] = sp_original;
    if (point->undo.is_rcx_next)
        gpr[X86_RCX] = pc_out->value;
    for (int i = 0; i < 2; i++)
        if (point->undo.saved[i].gpr != X86_GPR_NONE)
            gpr[point->undo.saved[i].gpr] = read_saved(memory, sp, point->undo.saved[i].place);
    return 0;
}
