/* SPDX-License-Identifier: MIT */
/*
 * How often something took how long, in little memory: each doubling of the time is divided into 32 buckets of the same
 * width, so that a time that is told is wrong by at most 1/64 of it (1.6 %); below 64 ticks it is exact. Memory grows
 * with how far the shortest and the longest are apart, not with their number. One thread at a time.
 */
#ifndef GAIT_VIEW_DURATION_HISTOGRAM_H
#define GAIT_VIEW_DURATION_HISTOGRAM_H

#include "base/attributes.h"

#include <stdint.h>

#define HISTOGRAM_SHARE_BITS 5u
#define HISTOGRAM_SHARES     (1u << HISTOGRAM_SHARE_BITS)

/* All zeroes: nothing is in it. */
struct duration_histogram {
    uint64_t *buckets; /* HISTOGRAM_SHARES of each octave */
    uint32_t first;    /* octave that is there; octave 0 has the times below HISTOGRAM_SHARES, one bucket each */
    uint32_t octave_count;
};

void duration_histogram_deinit(struct duration_histogram *histogram);

/* Makes room for an octave, at least. -ENOMEM: the histogram is as it was. */
MUST_USE int duration_histogram_grow(struct duration_histogram *histogram, uint32_t octave);

static inline uint32_t duration_histogram_octave(uint64_t duration)
{
    return duration < HISTOGRAM_SHARES ? 0 : 64 - HISTOGRAM_SHARE_BITS - (uint32_t)__builtin_clzll(duration);
}

/* Counts one. -ENOMEM: it is not counted. */
MUST_USE static inline int duration_histogram_add(struct duration_histogram *histogram, uint64_t duration)
{
    uint32_t octave = duration_histogram_octave(duration);
    uint32_t share = (uint32_t)(duration >> (octave - (octave != 0))) % HISTOGRAM_SHARES;

    if (octave - histogram->first >= histogram->octave_count) {
        int result = duration_histogram_grow(histogram, octave);

        if (result != 0)
            return result;
    }
    histogram->buckets[(octave - histogram->first) * HISTOGRAM_SHARES + share]++;
    return 0;
}

/* Counts all that another one has counted. -ENOMEM: none of them. */
MUST_USE int duration_histogram_merge(struct duration_histogram *histogram, const struct duration_histogram *other);

/* The time that so many of a hundred did not take longer than, about; 0 if there are none. */
uint64_t duration_histogram_percentile(const struct duration_histogram *histogram, double percent);

#endif
