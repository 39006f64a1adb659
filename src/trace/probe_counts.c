/* SPDX-License-Identifier: MIT */
/* By their numbers, in order: most are the same as the one before, the others are found by halves. */
#include "trace/probe_counts.h"

#include "base/partition_point.h"
#include "hosted/growing_array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void probe_counts_deinit(struct probe_counts *counts)
{
    for (size_t i = 0; i < counts->count; i++)
        free(counts->counts[i].last_values);
    free(counts->counts);
    *counts = (struct probe_counts){.count = 0};
}

/* The first whose number is not smaller. */
static size_t find(const struct probe_counts *counts, uint64_t probe)
{
    return PARTITION_POINT(counts->count, i, counts->counts[i].probe < probe);
}

static struct probe_count *obtain(struct probe_counts *counts, uint64_t probe)
{
    size_t at = find(counts, probe);

    if (at < counts->count && counts->counts[at].probe == probe)
        return &counts->counts[at];
    if (ARRAY_RESERVE_NEXT(counts->counts, counts->count) != 0)
        return NULL;
    memmove(&counts->counts[at + 1], &counts->counts[at], (counts->count - at) * sizeof(counts->counts[0]));
    counts->counts[at] = (struct probe_count){.probe = probe, .first_time = UINT64_MAX};
    counts->count++;
    return &counts->counts[at];
}

static int keep_values(struct probe_count *count, struct detail_values values)
{
    if (ARRAY_RESERVE(count->last_values, count->capacity, values.size_bytes) != 0)
        return -ENOMEM;
    if (values.size_bytes != 0)
        memcpy(count->last_values, values.bytes, values.size_bytes);
    count->last_bytes = values.size_bytes;
    return 0;
}

void probe_counts_add(struct probe_counts *counts, const struct detail_probe *probe, struct detail_values values)
{
    struct probe_count *count = obtain(counts, probe->probe);
    uint64_t time = probe->record.time;

    if (count == NULL) {
        counts->result = -ENOMEM;
        return;
    }
    count->times++;
    if (time < count->first_time)
        count->first_time = time;
    if (time < count->last_time)
        return;
    count->last_time = time;
    if (keep_values(count, values) != 0)
        counts->result = -ENOMEM;
}

static int compare(const void *left_count, const void *right_count)
{
    const struct probe_count *left = left_count, *right = right_count;

    if (left->times != right->times)
        return left->times > right->times ? -1 : 1;
    return left->probe < right->probe ? -1 : left->probe > right->probe;
}

void probe_counts_sort(struct probe_counts *counts)
{
    if (counts->count != 0)
        qsort(counts->counts, counts->count, sizeof(counts->counts[0]), compare);
}
