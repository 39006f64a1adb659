/* SPDX-License-Identifier: MIT */
/* On x86-64 instruction fetch sees all stores, through whatever mapping they were made: there is nothing to do. */
#include "base/instruction_cache.h"

void instruction_cache_flush(const void *written, const void *executable, size_t size_bytes)
{
    (void)written;
    (void)executable;
    (void)size_bytes;
}
