/* SPDX-License-Identifier: MIT */
/*
 * The rules of addresses that were asked for lately, for all threads: one word each, so that a word is either whole or
 * not there. No lock; callable in signal handlers and inside the target.
 *
 * An address has 47 bits. Its upper 35 are kept beside the 29 of the rule, its lower 12 say where: so an entry is about
 * exactly one address. Mixing them would spread addresses no better, and take time in each frame.
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

/* `behind` is the address behind the one that a rule is for: where the caller of a frame goes on, mostly. */
static inline _Atomic uint64_t *rule_cache_entry(struct rule_cache *cache, uint64_t behind)
{
    return &cache->entries[behind & (RULE_CACHE_ENTRIES - 1)];
}

/* A whole entry, which has a rule in its lower bits if it is for that address; else it may be for any other. */
static inline uint64_t rule_cache_look(struct rule_cache *cache, uint64_t behind)
{
    return atomic_load_explicit(rule_cache_entry(cache, behind), memory_order_relaxed);
}

/* Of one that is empty, too, which has a rule of kind UNWIND_UNKNOWN, for addresses below RULE_CACHE_ENTRIES. */
static inline bool rule_cache_is_for(uint64_t entry, uint64_t behind)
{
    return entry >> UNWIND_RULE_BITS == behind >> RULE_CACHE_BITS;
}

/* False: it is not there. */
static inline bool rule_cache_find(struct rule_cache *cache, uint64_t behind, uint32_t *rule_out)
{
    uint64_t entry = rule_cache_look(cache, behind);

    *rule_out = (uint32_t)entry & ((1u << UNWIND_RULE_BITS) - 1);
    return entry != 0 && rule_cache_is_for(entry, behind);
}

static inline void rule_cache_put(struct rule_cache *cache, uint64_t behind, uint32_t rule)
{
    /* Addresses with more bits than that are none of programs. */
    if (behind >> 47 == 0 && unwind_rule_kind(rule) != UNWIND_UNKNOWN)
        atomic_store_explicit(rule_cache_entry(cache, behind), behind >> RULE_CACHE_BITS << UNWIND_RULE_BITS | rule,
                              memory_order_relaxed);
}

#endif
