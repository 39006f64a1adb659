/* SPDX-License-Identifier: MIT */
/*
 * A retired block is out of the map, out of the table of indirect branches, and no exit leads to it; its own exits
 * still work, for threads that are in it. So nobody has to be stopped.
 */
#include "stalker/invalidate.h"

#include "base/counters.h"
#include "stalker/block_link.h"

/* Of any CPU, rounded up. */
#define INSN_BYTES_MAX 16

void block_retire(struct code_cache *cache, struct block *block)
{
    uint64_t *entry = &cache->indirect_table[block->start.value % INDIRECT_TABLE_ENTRIES];

    if (block->flags & BLOCK_RETIRED)
        return;
    block->flags |= BLOCK_RETIRED;
    hash_map_remove(&cache->blocks, block->start.value);
    if (block->landing.value != 0 && *entry == block->landing.value)
        __atomic_store_n(entry, cache->indirect_missing, __ATOMIC_RELEASE);
    block_unlink_incoming(cache, block);
    counter_add(COUNTER_blocks_retired, 1);
}

bool block_may_link(const struct code_cache *cache, const struct block *block)
{
    return block->snapshot == NULL || block->unchanged_count >= (uint32_t)cache->engine->options.trust;
}

bool block_is_trusted(const struct code_cache *cache, struct block *block)
{
    if (block_may_link(cache, block))
        return true;
    if (__builtin_memcmp(block->snapshot, (const void *)(uintptr_t)block->start.value, block->size_bytes) != 0)
        return false;
    block->unchanged_count++;
    return true;
}

/*
 * Where what the block was made of ends. One that leaves, or that has no instruction of its own, is made of what stands
 * behind it too: there was no code, or only the beginning of an instruction.
 */
static uint64_t source_end(const struct block *block)
{
    uint64_t end = block_end(block).value;
    uint8_t kind = block->exits[0].kind;

    return block->size_bytes == 0 || kind == BLOCK_EXIT_LEAVE || kind == BLOCK_EXIT_NO_CODE ? end + INSN_BYTES_MAX
                                                                                            : end;
}

static bool overlaps(const struct block *block, uint64_t start, uint64_t end)
{
    return block->start.value < end && source_end(block) > start;
}

void code_cache_invalidate(struct code_cache *cache, uint64_t start, uint64_t end)
{
    mutex_lock(&cache->lock);
    for (uint32_t i = 0; i < cache->block_count; i++) {
        struct block *block = code_cache_block(cache, i);

        if (overlaps(block, start, end))
            block_retire(cache, block);
    }
    mutex_unlock(&cache->lock);
}

void stalker_invalidate(struct stalker_engine *engine, uint64_t start, uint64_t end)
{
    for (unsigned i = 0; i < ENGINE_CACHE_COUNT && engine->caches[i] != NULL; i++)
        code_cache_invalidate(engine->caches[i], start, end);
}
