/* SPDX-License-Identifier: MIT */
/*
 * The place in a ring where a process counts, by base/counters.h: its reader sees the counters while they change, and
 * those of a process that was killed.
 */
#ifndef GAIT_RING_RING_COUNTERS_H
#define GAIT_RING_RING_COUNTERS_H

struct counters_snapshot;
struct ring_reader;
struct ring_region;

/* The process counts in this ring from now on, until counters_move. No other thread may be counting. */
void ring_counters_begin(struct ring_region *region);

/* All of them; zeroes if they are those of another gait, whose numbers mean something else. */
void ring_counters_read(const struct ring_reader *reader, struct counters_snapshot *snapshot_out);

#endif
