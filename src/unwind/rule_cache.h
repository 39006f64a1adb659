/* SPDX-License-Identifier: MIT */
/*
 * The rules of addresses that were asked for lately, for all threads: one word each, so that a word is either whole or
 * not there. No lock; callable in signal handlers and inside the target.
 *
 * An address has 47 bits. Its upper 35 are kept beside the 29 of the rule, its lower 12, mixed with some of the upper
 * ones, say where: so an entry is about exactly one address.
 */
#ifndef GAIT_UNWIND_RULE_CACHE_H
#define GAIT_UNWIND_RULE_CACHE_H

#include "unwind/unwind_rule.h"

#include <stdatomic.h>
#include <stdbool.h>

#define RULE_CACHE_BITS    12
#define RULE_CACHE_ENTRIES (1u << RULE_CACHE_BITS)

struct rule_cache {
    _Atomic uint64_t entries[RULE_CACHE_ENTRIES]; /* 0: nothing; UNWIND_UNKNOWN is not kept */
};

static inline _Atomic uint64_t *rule_cache_entry(struct rule_cache *cache, uint64_t address)
{
    return &cache->entries[(address ^ address >> RULE_CACHE_BITS) & (RULE_CACHE_ENTRIES - 1)];
}

/* False: it is not there. */
static inline bool rule_cache_find(struct rule_cache *cache, uint64_t address, uint32_t *rule_out)
{
    uint64_t entry = atomic_load_explicit(rule_cache_entry(cache, address), memory_order_relaxed);

    *rule_out = (uint32_t)entry & ((1u << UNWIND_RULE_BITS) - 1);
    return entry != 0 && entry >> UNWIND_RULE_BITS == address >> RULE_CACHE_BITS;
}

static inline void rule_cache_put(struct rule_cache *cache, uint64_t address, uint32_t rule)
{
    /* Addresses with more bits than that are none of programs. */
    if (address >> 47 == 0 && unwind_rule_kind(rule) != UNWIND_UNKNOWN)
        atomic_store_explicit(rule_cache_entry(cache, address), address >> RULE_CACHE_BITS << UNWIND_RULE_BITS | rule,
                              memory_order_relaxed);
}

#endif
