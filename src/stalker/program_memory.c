/* SPDX-License-Identifier: MIT */
/*
 * rt_sigprocmask reads and writes eight bytes at an address that it is given, says if it cannot, and does nothing else:
 * with a way to change the mask that does not exist, or without a change. An address of 0 it takes for none.
 */
#include "stalker/program_memory.h"

#include "base/alignment.h"
#include "base/memory_map.h"
#include "base/raw_syscall.h"

#include <asm/errno.h>
#include <asm/unistd.h>

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
