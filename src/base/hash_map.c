/* SPDX-License-Identifier: MIT */
/*
 * The writer's side of the map; hash_map.h describes how readers and the writer get along. Invariants: in one table a
 * slot's key never changes once it is not 0; at most three quarters of a table's slots have a key, so that each search
 * ends; the published table is never one that was retired. The writer's lock is the caller's.
 */
#include "base/hash_map.h"

#include "base/assert.h"
#include "base/memory_map.h"

#include <asm/errno.h>

#define SLOT_BITS_MIN 6u
#define SLOT_BITS_MAX 40u

static uint64_t slot_count(const struct hash_map_table *table)
{
    return table->mask + 1;
}

static size_t filled_limit(const struct hash_map_table *table)
{
    return slot_count(table) / 4 * 3;
}

/* For the writer, nobody else changes a table: relaxed. */
static uint64_t key_of(const struct hash_map_slot *slot)
{
    return atomic_load_explicit(&slot->key, memory_order_relaxed);
}

static uint64_t value_of(const struct hash_map_slot *slot)
{
    return atomic_load_explicit(&slot->value, memory_order_relaxed);
}

static struct hash_map_table *current_table(const struct hash_map *map)
{
    return atomic_load_explicit(&map->table, memory_order_relaxed);
}

/* A table that stays at most half full with so many keys. */
static int create_table(size_t key_count, struct hash_map_table **table_out)
{
    unsigned bits = SLOT_BITS_MIN;
    struct hash_map_table *table;
    size_t bytes;
    void *memory;
    int result;

    while (bits < SLOT_BITS_MAX && (1ull << bits) / 2 < key_count)
        bits++;
    bytes = sizeof(*table) + sizeof(struct hash_map_slot) * (1ull << bits);
    result = memory_map(bytes, &memory);
    if (result != 0)
        return -ENOMEM;
    /* Keys are spread over all of it. */
    memory_populate(memory, bytes);
    table = memory;
    table->mask = (1ull << bits) - 1;
    table->shift = 64 - bits;
    table->mapped_bytes = bytes;
    atomic_init(&table->zero.value, HASH_MAP_NO_VALUE);
    *table_out = table;
    return 0;
}

/* The key's slot, or the empty one where it belongs. */
static struct hash_map_slot *slot_for(struct hash_map_table *table, uint64_t key)
{
    uint64_t index = hash_map_first_index(table, key);

    if (key == 0)
        return &table->zero;
    while (key_of(&table->slots[index]) != key && key_of(&table->slots[index]) != 0)
        index = (index + 1) & table->mask;
    return &table->slots[index];
}

/* Gives an empty slot its key; the value comes first, so that who finds the key finds a value. */
static void fill_slot(struct hash_map_slot *slot, uint64_t key, uint64_t value)
{
    atomic_store_explicit(&slot->value, value, memory_order_relaxed);
    /* Release: pairs with the acquire of keys in hash_map_find_slot. */
    atomic_store_explicit(&slot->key, key, memory_order_release);
}

static void set_value(struct hash_map_slot *slot, uint64_t value)
{
    /* Release: pairs with the acquire of values in hash_map_lookup. */
    atomic_store_explicit(&slot->value, value, memory_order_release);
}

/* Nobody reads in the new table yet; its publication orders all of this. Returns how many slots were filled. */
static size_t copy_slots(const struct hash_map_table *from, struct hash_map_table *to)
{
    size_t filled = 0;

    atomic_store_explicit(&to->zero.value, value_of(&from->zero), memory_order_relaxed);
    for (uint64_t i = 0; i < slot_count(from); i++) {
        const struct hash_map_slot *slot = &from->slots[i];
        uint64_t key = key_of(slot), value = value_of(slot);

        if (key != 0 && value != HASH_MAP_NO_VALUE) {
            fill_slot(slot_for(to, key), key, value);
            filled++;
        }
    }
    return filled;
}

/* Puts a table without dead slots, of a size that fits the keys, in the place of the current one. */
static int rebuild(struct hash_map *map)
{
    struct hash_map_table *old = current_table(map);
    struct hash_map_table *new;
    int result = create_table(map->count + map->count / 4 + 1, &new);

    if (result != 0)
        return result;
    map->filled_count = copy_slots(old, new);
    /* Release: pairs with the acquire of the table in hash_map_lookup. */
    atomic_store_explicit(&map->table, new, memory_order_release);
    old->retired = map->retired;
    map->retired = old;
    return 0;
}

int hash_map_init(struct hash_map *map, size_t count_hint)
{
    struct hash_map_table *table;
    int result = create_table(count_hint, &table);

    if (result != 0)
        return result;
    *map = (struct hash_map){.count = 0};
    atomic_init(&map->table, table);
    return 0;
}

void hash_map_deinit(struct hash_map *map)
{
    struct hash_map_table *table = current_table(map);

    ASSERT(table == NULL || hash_map_check(map), "a hash map was damaged");
    hash_map_reclaim(map);
    if (table != NULL)
        memory_unmap(table, table->mapped_bytes);
    *map = (struct hash_map){.count = 0};
}

static int fill_new_slot(struct hash_map *map, uint64_t key, uint64_t value)
{
    struct hash_map_table *table = current_table(map);
    int result = map->filled_count < filled_limit(table) ? 0 : rebuild(map);

    if (result != 0)
        return result;
    table = current_table(map);
    fill_slot(slot_for(table, key), key, value);
    map->filled_count++;
    map->count++;
    return 0;
}

/* overwrite: whether a value that is there is replaced or kept with -EEXIST. */
static int put(struct hash_map *map, uint64_t key, uint64_t value, bool overwrite)
{
    struct hash_map_slot *slot = slot_for(current_table(map), key);
    bool has_slot = key == 0 || key_of(slot) == key;
    bool has_value = has_slot && value_of(slot) != HASH_MAP_NO_VALUE;

    if (value == HASH_MAP_NO_VALUE)
        return -EINVAL;
    if (has_value && !overwrite)
        return -EEXIST;
    if (!has_slot)
        return fill_new_slot(map, key, value);
    set_value(slot, value);
    map->count += !has_value;
    return 0;
}

int hash_map_set(struct hash_map *map, uint64_t key, uint64_t value)
{
    return put(map, key, value, true);
}

int hash_map_insert(struct hash_map *map, uint64_t key, uint64_t value)
{
    return put(map, key, value, false);
}

bool hash_map_remove(struct hash_map *map, uint64_t key)
{
    struct hash_map_slot *slot = slot_for(current_table(map), key);

    if ((key != 0 && key_of(slot) == 0) || value_of(slot) == HASH_MAP_NO_VALUE)
        return false;
    set_value(slot, HASH_MAP_NO_VALUE);
    map->count--;
    return true;
}

bool hash_map_next(const struct hash_map *map, uint64_t *cursor, uint64_t *key_out, uint64_t *value_out)
{
    const struct hash_map_table *table = current_table(map);

    /* The cursor counts the slots, key 0's being the first. */
    while (*cursor <= slot_count(table)) {
        const struct hash_map_slot *slot = *cursor == 0 ? &table->zero : &table->slots[*cursor - 1];
        bool is_filled = *cursor == 0 || key_of(slot) != 0;

        ++*cursor;
        if (is_filled && value_of(slot) != HASH_MAP_NO_VALUE) {
            *key_out = key_of(slot);
            *value_out = value_of(slot);
            return true;
        }
    }
    return false;
}

size_t hash_map_retired_memory(const struct hash_map_table *retired)
{
    size_t bytes = 0;

    for (; retired != NULL; retired = retired->retired)
        bytes += retired->mapped_bytes;
    return bytes;
}

size_t hash_map_memory(const struct hash_map *map)
{
    return current_table(map)->mapped_bytes + hash_map_retired_memory(map->retired);
}

struct hash_map_table *hash_map_retired_take(struct hash_map *map)
{
    struct hash_map_table *retired = map->retired;

    map->retired = NULL;
    return retired;
}

void hash_map_retired_free(struct hash_map_table *retired)
{
    while (retired != NULL) {
        struct hash_map_table *next = retired->retired;

        memory_unmap(retired, retired->mapped_bytes);
        retired = next;
    }
}

void hash_map_reclaim(struct hash_map *map)
{
    hash_map_retired_free(hash_map_retired_take(map));
}

/* A duplicate of a key would be found in the place of one of the two. */
bool hash_map_check(const struct hash_map *map)
{
    const struct hash_map_table *table = current_table(map);
    size_t filled = 0, count = value_of(&table->zero) != HASH_MAP_NO_VALUE;

    for (uint64_t i = 0; i < slot_count(table); i++) {
        const struct hash_map_slot *slot = &table->slots[i];

        if (key_of(slot) == 0)
            continue;
        if (hash_map_find_slot(table, key_of(slot)) != slot)
            return false;
        filled++;
        count += value_of(slot) != HASH_MAP_NO_VALUE;
    }
    return key_of(&table->zero) == 0 && filled == map->filled_count && filled <= filled_limit(table) &&
           count == map->count;
}
