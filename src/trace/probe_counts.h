/* SPDX-License-Identifier: MIT */
/* How often the probes of a process were passed, and with what the last time. One thread at a time. */
#ifndef GAIT_TRACE_PROBE_COUNTS_H
#define GAIT_TRACE_PROBE_COUNTS_H

#include "ring/detail_record.h"

#include <stddef.h>
#include <stdint.h>

struct probe_count {
    uint64_t probe; /* its number */
    uint64_t times;
    uint64_t first_time; /* the counter */
    uint64_t last_time;
    uint8_t *last_values; /* of the one that was passed last */
    uint32_t last_bytes;
    size_t capacity;
};

/* All zero: none. */
struct probe_counts {
    struct probe_count *counts;
    size_t count;
    int result; /* -ENOMEM: some are missing */
};

void probe_counts_deinit(struct probe_counts *counts);

void probe_counts_add(struct probe_counts *counts, const struct detail_probe *probe, struct detail_values values);

/* Puts them into order, the one that was passed most often first. */
void probe_counts_sort(struct probe_counts *counts);

#endif
