/* SPDX-License-Identifier: MIT */
/*
 * A map from 64-bit keys to 64-bit values for many readers and one writer. Readers take no lock and make no system
 * call; while the writer inserts, updates, removes and grows, a lookup gives what the map held at some moment between
 * its begin and its end, never anything else. Writers are serialized by the caller's lock.
 *
 * How: open addressing. A slot's key is written once in the life of a table, so that a reader who has found its key may
 * trust the slot; a removed key keeps its slot with HASH_MAP_NO_VALUE in it and takes it again when it returns. When
 * slots run out the writer builds a new table, publishes it and retires the old one, which readers may still be in:
 * the caller frees retired tables when it knows that every reader has passed a quiescent point.
 *
 * Orders. Three release stores of the writer, each with its acquire in hash_map_lookup:
 *   table: the slots copied into a new table are visible to who reads in it;
 *   key:   the slot's first value is visible to who finds the key;
 *   value: what the writer did before, such as filling the object that a value points to, is visible to who gets it.
 */
#ifndef GAIT_BASE_HASH_MAP_H
#define GAIT_BASE_HASH_MAP_H

#include "base/attributes.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The one value that cannot be stored: it marks slots without a value. */
#define HASH_MAP_NO_VALUE UINT64_MAX

/* key 0: never used. The slot of key 0 itself is outside of the table's array. */
struct hash_map_slot {
    _Atomic uint64_t key;
    _Atomic uint64_t value;
};

/* But for values and new keys a published table does not change, so that its first line stays in every reader's cache.
 */
struct hash_map_table {
    uint64_t mask;  /* the number of slots, a power of two, less one */
    unsigned shift; /* leaves as many bits of a hash as the mask has */
    size_t mapped_bytes;
    struct hash_map_table *retired; /* the next table in a list of retired ones */
    struct hash_map_slot zero;      /* the slot of key 0 */
    _Alignas(64) struct hash_map_slot slots[];
};

struct hash_map {
    struct hash_map_table *_Atomic table;
    uint8_t apart[64 - sizeof(void *)]; /* what only the writer uses is on another cache line */
    size_t count;                       /* keys with a value */
    size_t filled_count;                /* slots with a key, also without a value */
    struct hash_map_table *retired;
};

/* Begins an empty map with room for count_hint keys before it first grows. -ENOMEM. */
MUST_USE int hash_map_init(struct hash_map *map, size_t count_hint);

/* Gives all memory back, retired tables too. No reader may be left. */
void hash_map_deinit(struct hash_map *map);

/* Sets the key's value, whether it has one or not. Writer. -EINVAL: HASH_MAP_NO_VALUE; -ENOMEM: the map is unchanged.
 */
MUST_USE int hash_map_set(struct hash_map *map, uint64_t key, uint64_t value);

/* Sets the value of a key that has none. Writer. -EEXIST: it has one; else as hash_map_set. */
MUST_USE int hash_map_insert(struct hash_map *map, uint64_t key, uint64_t value);

/* Takes the key's value away. Writer; needs no memory. Returns whether it had one. */
bool hash_map_remove(struct hash_map *map, uint64_t key);

/* Keys with a value. Writer. */
static inline size_t hash_map_count(const struct hash_map *map)
{
    return map->count;
}

/* Memory of the present table and of retired ones that were not taken. Writer. */
size_t hash_map_memory(const struct hash_map *map);

/* Visits each key with a value, in no order, starting from *cursor 0. False: no more. Writer; no changes meanwhile. */
bool hash_map_next(const struct hash_map *map, uint64_t *cursor, uint64_t *key_out, uint64_t *value_out);

/* Whether there are retired tables to take. Writer. */
static inline bool hash_map_has_retired(const struct hash_map *map)
{
    return map->retired != NULL;
}

/*
 * Takes the list of tables retired so far (NULL: none), for hash_map_retired_free when every reader who might be in
 * them has passed a quiescent point. Writer.
 */
MUST_USE struct hash_map_table *hash_map_retired_take(struct hash_map *map);

/* Memory of a list of retired tables. */
size_t hash_map_retired_memory(const struct hash_map_table *retired);

/* Frees a list of retired tables; NULL is fine. Any thread. */
void hash_map_retired_free(struct hash_map_table *retired);

/* Both at once, for when no reader is in the map at all. Writer. */
void hash_map_reclaim(struct hash_map *map);

/* Whether counts agree, keys are unique and each one is found from its hash. Writer. Walks everything. */
bool hash_map_check(const struct hash_map *map);

static inline uint64_t hash_map_first_index(const struct hash_map_table *table, uint64_t key)
{
    /* Addresses differ in their low bits, the product in its high ones. */
    return (key * 0x9e3779b97f4a7c15ull) >> table->shift;
}

/* The key's slot in a table, or NULL. */
static inline const struct hash_map_slot *hash_map_find_slot(const struct hash_map_table *table, uint64_t key)
{
    if (__builtin_expect(key == 0, 0))
        return &table->zero;
    for (uint64_t index = hash_map_first_index(table, key);; index = (index + 1) & table->mask) {
        /* Acquire: pairs with the release of a slot's key. */
        uint64_t found = atomic_load_explicit(&table->slots[index].key, memory_order_acquire);

        if (found == key)
            return &table->slots[index];
        if (found == 0)
            return NULL;
    }
}

/* Says that the key will be looked up soon. */
static inline void hash_map_prefetch(const struct hash_map *map, uint64_t key)
{
    const struct hash_map_table *table = atomic_load_explicit(&map->table, memory_order_acquire);

    __builtin_prefetch(&table->slots[hash_map_first_index(table, key)]);
}

/* The key's value. False: it has none, and *value_out is untouched. Any thread, also in signal handlers; no lock. */
static inline bool hash_map_lookup(const struct hash_map *map, uint64_t key, uint64_t *value_out)
{
    /* Acquire: pairs with the release of a new table. */
    const struct hash_map_table *table = atomic_load_explicit(&map->table, memory_order_acquire);
    const struct hash_map_slot *slot = hash_map_find_slot(table, key);
    uint64_t value;

    if (slot == NULL)
        return false;
    /* Acquire: pairs with the release of a value. */
    value = atomic_load_explicit(&slot->value, memory_order_acquire);
    if (value == HASH_MAP_NO_VALUE)
        return false;
    *value_out = value;
    return true;
}

#endif
