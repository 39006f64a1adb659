/* SPDX-License-Identifier: MIT */
/*
 * How often each hooked function was entered and left in a chunk, in front of its records: a reader that only counts
 * need not unpack these. Counted by the recorder, which has them at hand. One thread at a time.
 */
#ifndef GAIT_TRACE_RECORD_COUNTS_H
#define GAIT_TRACE_RECORD_COUNTS_H

#include "base/attributes.h"
#include "trace/record_packing.h"
#include "trace/trace_layout.h"

/* Serves any number of chunks. */
struct record_counts;

/* -ENOMEM. */
MUST_USE int record_counts_create(struct record_counts **counts_out);
/* NULL is fine. */
void record_counts_destroy(struct record_counts *counts);

/*
 * Counts records of hooked functions. Returns how many bytes record_counts_write will put; 0: they are more than
 * `room`, or what is there are not such records, or too many functions.
 */
size_t record_counts_take(struct record_counts *counts, struct packing_source records, size_t room);

/* The sum that a struct trace_counts should have, with so many counts behind it. */
uint32_t record_counts_sum(const uint8_t *bytes, uint32_t count);

/* Puts a struct trace_counts and what follows it, of what was taken the last time. */
void record_counts_write(const struct record_counts *counts, uint8_t *bytes);

#endif
