/* SPDX-License-Identifier: MIT */
/*
 * The branch brought the number of its block along, and the block's trail has the rest: where the branch stands and
 * what it does to rsp.
 */
#include "arch/x86_64/stalker/refused_branch.h"

#include "arch/host_cpu.h"
#include "arch/x86_64/stalker/trail.h"
#include "stalker/code_cache.h"
#include "stalker/code_place.h"
#include "stalker/thread.h"

static bool is_refused(uint64_t target)
{
    unsigned spare_bits = 64 - host_cpu_address_bits();

    return (uint64_t)((int64_t)(target << spare_bits) >> spare_bits) != target;
}

bool x86_undo_refused(const struct code_cache *cache, uint32_t from, struct gait_cpu_context *cpu)
{
    const struct block *block;
    struct code_place place;
    struct trail_point branch;

    if (!is_refused(cpu->pc))
        return false;
    block = code_cache_block(cache, from);
    if (!code_cache_place_at(cache, block->entry, &place) ||
        !trail_find_branch(place.trail, place.trail_bytes, &branch))
        return false;
    cpu->pc = block->start.value + (uint64_t)branch.app_offset;
    cpu->registers[X86_RSP] += (uint64_t)(int64_t)branch.state.sp_add;
    return true;
}

bool x86_refuse_branch(const struct stalker_thread *thread, struct gait_cpu_context *cpu)
{
    return x86_undo_refused(thread->cache, thread->exit / BLOCK_EXIT_COUNT, cpu);
}
