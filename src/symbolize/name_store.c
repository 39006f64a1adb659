/* SPDX-License-Identifier: MIT */
/* Chains in a table that doubles. A plain text and the name of a function with the same letters are two entries. */
#include "symbolize/name_store.h"

#include "base/text_hash.h"
#include "symbolize/demangle.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_AT_FIRST 1024

struct name_store_entry {
    struct name_store_entry *next;
    char *meaning; /* of a function's name; NULL: it means itself */
    uint64_t hash;
    size_t length;
    bool is_function;
    char text[];
};

void name_store_init(struct name_store *store)
{
    *store = (struct name_store){.count = 0};
    store->has_fixed = hash_map_init(&store->fixed, SLOTS_AT_FIRST) == 0;
}

void name_store_deinit(struct name_store *store)
{
    for (size_t i = 0; i < store->slot_count; i++)
        while (store->slots[i] != NULL) {
            struct name_store_entry *entry = store->slots[i];

            store->slots[i] = entry->next;
            free(entry->meaning);
            free(entry);
        }
    free(store->slots);
    if (store->has_fixed)
        hash_map_deinit(&store->fixed);
    *store = (struct name_store){0};
}

static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = text_hash_of(text, length);

    return hash ^ hash >> 29;
}

/* Without memory the chains stay long. */
static void add_slots(struct name_store *store)
{
    size_t count = store->slot_count == 0 ? SLOTS_AT_FIRST : 2 * store->slot_count;
    struct name_store_entry **slots = calloc(count, sizeof(slots[0]));

    if (slots == NULL)
        return;
    for (size_t i = 0; i < store->slot_count; i++)
        while (store->slots[i] != NULL) {
            struct name_store_entry *entry = store->slots[i], **place = &slots[entry->hash & (count - 1)];

            store->slots[i] = entry->next;
            entry->next = *place;
            *place = entry;
        }
    free(store->slots);
    store->slots = slots;
    store->slot_count = count;
}

static struct name_store_entry *add(struct name_store *store, const char *text, size_t length, uint64_t hash)
{
    struct name_store_entry *entry, **place;

    if (store->count == store->slot_count)
        add_slots(store);
    entry = store->slot_count == 0 ? NULL : calloc(1, sizeof(*entry) + length + 1);
    if (entry == NULL)
        return NULL;
    place = &store->slots[hash & (store->slot_count - 1)];
    memcpy(entry->text, text, length);
    entry->length = length;
    entry->hash = hash;
    entry->next = *place;
    *place = entry;
    store->count++;
    return entry;
}

static struct name_store_entry *find(const struct name_store *store, const char *text, size_t length, uint64_t hash,
                                     bool is_function)
{
    struct name_store_entry *entry = store->slot_count == 0 ? NULL : store->slots[hash & (store->slot_count - 1)];

    while (entry != NULL && (entry->hash != hash || entry->length != length || entry->is_function != is_function ||
                             memcmp(entry->text, text, length) != 0))
        entry = entry->next;
    return entry;
}

const char *name_store_put(struct name_store *store, const char *text, size_t length)
{
    uint64_t hash = hash_of(text, length);
    struct name_store_entry *entry = find(store, text, length, hash, false);

    if (entry == NULL)
        entry = add(store, text, length, hash);
    return entry == NULL ? "?" : entry->text;
}

const char *name_store_put_function(struct name_store *store, const char *name, size_t length)
{
    uint64_t hash = hash_of(name, length);
    struct name_store_entry *entry = find(store, name, length, hash, true);

    if (entry == NULL) {
        entry = add(store, name, length, hash);
        if (entry == NULL)
            return "?";
        entry->is_function = true;
        entry->meaning = demangle(entry->text);
    }
    return entry->meaning != NULL ? entry->meaning : entry->text;
}

const char *name_store_put_fixed_function(struct name_store *store, const char *name, size_t length)
{
    uint64_t key = (uint64_t)(uintptr_t)name, meaning;

    if (store->has_fixed && hash_map_lookup(&store->fixed, key, &meaning))
        return (const char *)(uintptr_t)meaning;
    meaning = (uint64_t)(uintptr_t)name_store_put_function(store, name, length == SIZE_MAX ? strlen(name) : length);
    if (store->has_fixed) {
        (void)!hash_map_set(&store->fixed, key, meaning);
        hash_map_reclaim(&store->fixed);
    }
    return (const char *)(uintptr_t)meaning;
}
