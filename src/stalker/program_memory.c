/* SPDX-License-Identifier: MIT */
/*
 * rt_sigprocmask reads and writes eight bytes at an address that it is given, says if it cannot, and does nothing else:
 * with a way to change the mask that does not exist, or without a change. An address of 0 it takes for none.
 */
#include "stalker/program_memory.h"

#include "base/alignment.h"
#include "base/memory_area.h"
#include "base/memory_map.h"
#include "base/raw_syscall.h"
#include "stalker/stalker_engine.h"
#include "stalker/system_call.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/mman.h>

#define WORD_BYTES 8
#define NO_WAY     (-1)

static bool read_word(uint64_t address)
{
    return address != 0 && raw_syscall(__NR_rt_sigprocmask, NO_WAY, (long)address, 0, WORD_BYTES, 0, 0) != -EFAULT;
}

static bool write_word(uint64_t address)
{
    return address != 0 && raw_syscall(__NR_rt_sigprocmask, 0, 0, (long)address, WORD_BYTES, 0, 0) == 0;
}

static bool try_each_page(uint64_t address, size_t size_bytes, bool (*try)(uint64_t address))
{
    uint64_t last = address + size_bytes - WORD_BYTES, page_bytes = memory_page_size();

    /* The highest first: that is how stacks grow. */
    if (!try(last))
        return false;
    for (uint64_t page = align_down(last, page_bytes); page > address; page -= page_bytes)
        if (!try(page))
            return false;
    return try(address);
}

bool program_memory_is_readable(uint64_t address, size_t size_bytes)
{
    return try_each_page(address, size_bytes, read_word);
}

bool program_memory_make_writable(uint64_t address, size_t size_bytes)
{
    return try_each_page(address, size_bytes, write_word);
}

/* ---- memory of ours ---------------------------------------------------------------------------------------------- */

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
