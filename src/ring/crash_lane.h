/* SPDX-License-Identifier: MIT */
/*
 * The place in a ring where a dying process says how it dies (ring/crash_record.h). Nothing else is written there, so
 * there is always room; records end at the first one whose size is 0. Several threads may die at once.
 */
#ifndef GAIT_RING_CRASH_LANE_H
#define GAIT_RING_CRASH_LANE_H

#include "ring/crash_record.h"

#include <stddef.h>
#include <stdint.h>

struct ring_reader;
struct ring_region;

/*
 * A place of so many bytes, rounded up to a multiple of 8, zero; NULL: there is no room for so much. Signal-safe, no
 * lock.
 */
void *crash_lane_reserve(struct ring_region *region, size_t size_bytes);

/* The record at a place that was reserved is complete, and has that size and kind. */
void crash_lane_commit(void *place, size_t size_bytes, enum crash_record_kind kind);

/* The size of the record at a place with so many bytes; 0: there is none. It may be changed by others meanwhile. */
size_t crash_record_check(const uint8_t *place, size_t available);

/* Copies all that is there now, whole records only; at most RING_CRASHES_BYTES. Returns how many bytes those are. */
size_t crash_lane_read(const struct ring_reader *reader, uint8_t *bytes_out, size_t capacity);

#endif
