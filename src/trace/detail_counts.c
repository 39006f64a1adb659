/* SPDX-License-Identifier: MIT */
#include "trace/detail_counts.h"

#include "hosted/growing_array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COUNTS_AT_FIRST 64

int detail_counts_init(struct detail_counts *counts)
{
    *counts = (struct detail_counts){.count = 0};
    return hash_map_init(&counts->addresses, COUNTS_AT_FIRST);
}

void detail_counts_deinit(struct detail_counts *counts)
{
    hash_map_deinit(&counts->addresses);
    for (size_t i = 0; i < counts->count; i++) {
        free(counts->counts[i].last_values.bytes);
        free(counts->counts[i].last_result.bytes);
    }
    free(counts->counts);
    *counts = (struct detail_counts){.count = 0};
}

static struct detail_count *add(struct detail_counts *counts, uint64_t address)
{
    if (ARRAY_RESERVE(counts->counts, counts->capacity, counts->count + 1) != 0)
        return NULL;
    if (hash_map_set(&counts->addresses, address, counts->count) != 0)
        return NULL;
    /* Nobody else looks. */
    hash_map_reclaim(&counts->addresses);
    counts->counts[counts->count] = (struct detail_count){.address = address};
    return &counts->counts[counts->count++];
}

static struct detail_count *obtain(struct detail_counts *counts, uint64_t address)
{
    struct detail_count *count;
    uint64_t at;

    if (hash_map_lookup(&counts->addresses, address, &at))
        return &counts->counts[at];
    count = add(counts, address);
    if (count == NULL)
        counts->result = -ENOMEM;
    return count;
}

static void keep(struct detail_counts *counts, struct detail_last_values *last, struct detail_values values)
{
    last->size_bytes = 0;
    if (ARRAY_RESERVE(last->bytes, last->capacity, values.size_bytes) != 0) {
        counts->result = -ENOMEM;
        return;
    }
    if (values.size_bytes != 0)
        memcpy(last->bytes, values.bytes, values.size_bytes);
    last->size_bytes = values.size_bytes;
}

void detail_counts_enter(struct detail_counts *counts, const struct detail_enter *enter, struct detail_values values)
{
    struct detail_count *count = obtain(counts, enter->record.function);

    if (count == NULL)
        return;
    count->calls++;
    if (enter->record.time < count->last_time)
        return;
    count->last_time = enter->record.time;
    memcpy(count->last_arguments, enter->arguments, sizeof(count->last_arguments));
    keep(counts, &count->last_values, values);
}

void detail_counts_leave(struct detail_counts *counts, const struct detail_leave *leave, struct detail_values values)
{
    struct detail_count *count = obtain(counts, leave->record.function);
    uint64_t ticks = leave->record.time - leave->entered_time;

    if (count == NULL || leave->record.time < leave->entered_time)
        return;
    if (count->last_time == 0)
        count->last_time = leave->entered_time;
    count->returns++;
    count->left += leave->record.kind == DETAIL_LEFT;
    count->total += ticks;
    if (count->returns == 1 || ticks < count->shortest)
        count->shortest = ticks;
    if (ticks > count->longest)
        count->longest = ticks;
    if (leave->record.kind != DETAIL_LEAVE || leave->record.time < count->last_return)
        return;
    count->last_return = leave->record.time;
    count->last_value = leave->value;
    keep(counts, &count->last_result, values);
}

static int compare(const void *left_count, const void *right_count)
{
    const struct detail_count *left = left_count, *right = right_count;

    if (left->total != right->total)
        return left->total > right->total ? -1 : 1;
    if (left->calls != right->calls)
        return left->calls > right->calls ? -1 : 1;
    return left->address < right->address ? -1 : left->address > right->address;
}

void detail_counts_sort(struct detail_counts *counts)
{
    if (counts->count != 0)
        qsort(counts->counts, counts->count, sizeof(counts->counts[0]), compare);
}
