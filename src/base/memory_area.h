/* SPDX-License-Identifier: MIT */
/*
 * Addresses that memory of ours is asked for at, far from where the kernel puts that of the program. Otherwise ours
 * would come to lie in holes that the program has just made, and that it is about to use again with MAP_FIXED: what
 * was free a moment ago, it believes to be free still.
 *
 * Only a wish: where it cannot be had the kernel takes another place. Any thread, any signal handler; no lock.
 */
#ifndef GAIT_BASE_MEMORY_AREA_H
#define GAIT_BASE_MEMORY_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the next mapping of whole pages may go; the same is not given out again soon. 0: anywhere. */
uint64_t memory_area_take(size_t size_bytes);

/* Whether something that was taken may lie at start <= a < end. What was given back counts, too. */
bool memory_area_overlaps(uint64_t start, uint64_t end);

#endif
