/* SPDX-License-Identifier: MIT */
/* Octaves are those from the first to the last that were needed, without holes: functions take about the same time. */
#include "view/duration_histogram.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void duration_histogram_deinit(struct duration_histogram *histogram)
{
    free(histogram->buckets);
    *histogram = (struct duration_histogram){.octave_count = 0};
}

int duration_histogram_grow(struct duration_histogram *histogram, uint32_t octave)
{
    bool is_empty = histogram->octave_count == 0;
    uint32_t first = is_empty || octave < histogram->first ? octave : histogram->first;
    uint32_t end = is_empty ? octave + 1 : histogram->first + histogram->octave_count;
    uint64_t *grown;

    if (octave >= end)
        end = octave + 1;
    grown = calloc((size_t)(end - first) * HISTOGRAM_SHARES, sizeof(*grown));
    if (grown == NULL)
        return -ENOMEM;
    if (!is_empty)
        memcpy(grown + (size_t)(histogram->first - first) * HISTOGRAM_SHARES, histogram->buckets,
               (size_t)histogram->octave_count * HISTOGRAM_SHARES * sizeof(*grown));
    free(histogram->buckets);
    *histogram = (struct duration_histogram){grown, first, end - first};
    return 0;
}

int duration_histogram_merge(struct duration_histogram *histogram, const struct duration_histogram *other)
{
    uint64_t *into;
    int result;

    if (other->octave_count == 0)
        return 0;
    result = duration_histogram_grow(histogram, other->first);
    if (result == 0)
        result = duration_histogram_grow(histogram, other->first + other->octave_count - 1);
    if (result != 0)
        return result;
    into = histogram->buckets + (size_t)(other->first - histogram->first) * HISTOGRAM_SHARES;
    for (size_t i = 0; i < (size_t)other->octave_count * HISTOGRAM_SHARES; i++)
        into[i] += other->buckets[i];
    return 0;
}

/* The middle of a bucket. */
static uint64_t time_of(const struct duration_histogram *histogram, size_t bucket)
{
    uint32_t octave = histogram->first + (uint32_t)(bucket / HISTOGRAM_SHARES), share = bucket % HISTOGRAM_SHARES;
    uint32_t shift = octave - 1;

    if (octave == 0)
        return share;
    return ((uint64_t)(HISTOGRAM_SHARES + share) << shift) + (1ull << shift) / 2;
}

uint64_t duration_histogram_percentile(const struct duration_histogram *histogram, double percent)
{
    size_t bucket_count = (size_t)histogram->octave_count * HISTOGRAM_SHARES;
    uint64_t count = 0, seen = 0;

    for (size_t i = 0; i < bucket_count; i++)
        count += histogram->buckets[i];
    for (size_t i = 0; i < bucket_count; i++) {
        seen += histogram->buckets[i];
        if (seen != 0 && (double)seen >= percent / 100 * (double)count)
            return time_of(histogram, i);
    }
    return 0;
}
