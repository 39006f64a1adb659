/* SPDX-License-Identifier: MIT */
#include "stalker/own_memory.h"

#include "base/memory_area.h"
#include "stalker/stalker_engine.h"
#include "stalker/system_call.h"

#include <asm/unistd.h>
#include <linux/mman.h>

static bool is_ours(const struct stalker_engine *engine, long first, long size)
{
    uint64_t start = (uint64_t)first, end = start + (uint64_t)size;

    if (end <= start)
        return false;
    return memory_area_overlaps(start, end) || (start < engine->image.high && end > engine->image.low);
}

bool own_memory_is_changed_by(const struct stalker_engine *engine, const struct system_call *call)
{
    const long *arguments = call->arguments;

    if (engine->image.high == 0)
        return false;
    switch (call->number) {
    case __NR_mmap:
        return arguments[3] & MAP_FIXED && is_ours(engine, arguments[0], arguments[1]);
    case __NR_mremap:
        return is_ours(engine, arguments[0], arguments[1]) ||
               (arguments[3] & MREMAP_FIXED && is_ours(engine, arguments[4], arguments[2]));
    default:
        return is_ours(engine, arguments[0], arguments[1]);
    }
}
