/* SPDX-License-Identifier: MIT */
/* The module that was found last for an address is asked first: looking for another one is slow, and rare. */
#include "trace/call_counts.h"

#include <errno.h>
#include <stdlib.h>

#define COUNTS_AT_FIRST 256

int call_counts_init(struct call_counts *counts, const struct modules *modules)
{
    *counts = (struct call_counts){.modules = modules};
    return hash_map_init(&counts->addresses, COUNTS_AT_FIRST);
}

void call_counts_deinit(struct call_counts *counts)
{
    hash_map_deinit(&counts->addresses);
    free(counts->counts);
    *counts = (struct call_counts){.count = 0};
}

static bool was_there(const struct module *module, uint64_t first_time, uint64_t last_time)
{
    return module != NULL && module->loaded <= last_time && first_time < module->unloaded;
}

/* Adds one in front of those of the address. */
static int add_count(struct call_counts *counts, uint64_t address, const struct module *module, size_t next)
{
    int result;

    if (counts->count == counts->capacity) {
        size_t capacity = counts->capacity == 0 ? COUNTS_AT_FIRST : 2 * counts->capacity;
        struct call_count *grown = realloc(counts->counts, capacity * sizeof(*grown));

        if (grown == NULL)
            return -ENOMEM;
        counts->counts = grown;
        counts->capacity = capacity;
    }
    result = hash_map_set(&counts->addresses, address, counts->count);
    if (result != 0)
        return result;
    /* Nobody else looks. */
    hash_map_reclaim(&counts->addresses);
    counts->counts[counts->count++] = (struct call_count){.address = address, .module = module, .next = next};
    return 0;
}

int call_counts_find(struct call_counts *counts, uint64_t address, uint64_t first_time, uint64_t last_time,
                     size_t *index_out)
{
    const struct module *module;
    uint64_t first = SIZE_MAX;
    size_t at;
    int result;

    if (hash_map_lookup(&counts->addresses, address, &first) &&
        was_there(counts->counts[first].module, first_time, last_time)) {
        *index_out = (size_t)first;
        return 0;
    }
    module = modules_find(counts->modules, address, first_time, last_time);
    for (at = (size_t)first; at != SIZE_MAX && counts->counts[at].module != module; at = counts->counts[at].next)
        ;
    if (at == SIZE_MAX) {
        result = add_count(counts, address, module, (size_t)first);
        if (result != 0)
            return result;
        at = counts->count - 1;
    }
    *index_out = at;
    return 0;
}

int call_counts_add(struct call_counts *counts, uint64_t address, uint64_t first_time, uint64_t last_time)
{
    size_t index;
    int result = call_counts_find(counts, address, first_time, last_time, &index);

    if (result == 0)
        counts->counts[index].calls++;
    return result;
}

static int compare(const void *left_count, const void *right_count)
{
    const struct call_count *left = left_count, *right = right_count;

    if (left->calls != right->calls)
        return left->calls > right->calls ? -1 : 1;
    return left->address < right->address ? -1 : left->address > right->address;
}

void call_counts_sort(struct call_counts *counts)
{
    if (counts->count > 0)
        qsort(counts->counts, counts->count, sizeof(counts->counts[0]), compare);
}
