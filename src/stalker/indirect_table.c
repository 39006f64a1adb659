/* SPDX-License-Identifier: MIT */
/*
 * Landings check whether they are the right ones, so that any entry may hold any of them: what is in a narrow table is
 * right in a wide one, too. Invariant: all places that stand for one entry hold the same.
 */
#include "stalker/indirect_table.h"

#define TABLE_BYTES  (INDIRECT_TABLE_ENTRIES * sizeof(uint64_t))
#define NARROW_BYTES (INDIRECT_TABLE_NARROW_ENTRIES * sizeof(uint64_t))

/* The engine gives an entry away each 64th time that it is missed: so by then it was missed some 16,000 times. */
#define TAKEN_MAX 256

/* All of a wide one, with what is in `source`, which has that many entries; NULL: nothing. */
static int map_wide(const struct indirect_table *table, const uint64_t *source, uint64_t **entries_out)
{
    struct memory_request request = {
        .size_bytes = TABLE_BYTES, .access = MEMORY_READ_WRITE, .within = table->form.within, .fd = -1};
    void *start;
    uint64_t *entries;
    int result = memory_map_request(&request, &start);

    if (result != 0)
        return result;
    memory_populate(start, TABLE_BYTES);
    entries = start;
    for (uint32_t i = 0; i < INDIRECT_TABLE_ENTRIES; i++)
        entries[i] = source == NULL ? table->missing : source[i % table->entry_count];
    *entries_out = entries;
    return 0;
}

static int map_narrow(const struct indirect_table *table, uint64_t **entries_out)
{
    void *start;
    uint64_t *entries;
    int result = memory_map_repeated(table->form.within, NARROW_BYTES, TABLE_BYTES / NARROW_BYTES, &start);

    if (result != 0)
        return result;
    memory_populate(start, NARROW_BYTES);
    entries = start;
    for (uint32_t i = 0; i < INDIRECT_TABLE_NARROW_ENTRIES; i++)
        entries[i] = table->missing;
    *entries_out = entries;
    return 0;
}

int indirect_table_init(struct indirect_table *table, const struct indirect_form *form, uint64_t missing,
                        bool is_narrow)
{
    int result = -1;

    *table = (struct indirect_table){.missing = missing, .form = *form};
    if (is_narrow)
        result = map_narrow(table, &table->entries);
    if (result == 0) {
        table->entry_count = INDIRECT_TABLE_NARROW_ENTRIES;
        return 0;
    }
    result = map_wide(table, NULL, &table->entries);
    if (result == 0)
        table->entry_count = INDIRECT_TABLE_ENTRIES;
    return result;
}

void indirect_table_deinit(struct indirect_table *table)
{
    if (table->entries != NULL)
        memory_unmap(table->entries, TABLE_BYTES);
    *table = (struct indirect_table){0};
}

int indirect_table_widen(struct indirect_table *table)
{
    uint64_t *entries;
    int result;

    if (!indirect_table_is_narrow(table))
        return 0;
    result = map_wide(table, table->entries, &entries);
    if (result != 0)
        return result;
    result = memory_move(entries, TABLE_BYTES, table->entries);
    if (result != 0) {
        memory_unmap(entries, TABLE_BYTES);
        return result;
    }
    table->entry_count = INDIRECT_TABLE_ENTRIES;
    return 0;
}

static uint64_t *entry_of(const struct indirect_table *table, struct app_pc target)
{
    return &table->entries[(target.value >> table->form.shift) % table->entry_count];
}

void indirect_table_set(struct indirect_table *table, struct app_pc target, struct cache_pc landing)
{
    uint64_t *entry = entry_of(table, target);

    if (indirect_table_is_narrow(table) && *entry != table->missing && *entry != landing.value)
        table->taken_count++;
    /* Release: whoever jumps there finds the landing committed. */
    __atomic_store_n(entry, landing.value, __ATOMIC_RELEASE);
    /* Without memory it is no worse than before; it is tried again after as many. */
    if (table->taken_count == TAKEN_MAX) {
        table->taken_count = 0;
        (void)!indirect_table_widen(table);
    }
}

void indirect_table_clear(struct indirect_table *table, struct app_pc target, struct cache_pc landing)
{
    uint64_t *entry = entry_of(table, target);

    if (*entry == landing.value)
        __atomic_store_n(entry, table->missing, __ATOMIC_RELEASE);
}

size_t indirect_table_memory(const struct indirect_table *table)
{
    return table->entry_count * sizeof(uint64_t);
}
