/* SPDX-License-Identifier: MIT */
/*
 * Where memory of ours is. It is asked for at addresses far from where the kernel puts that of the program.
 * Otherwise ours would come to lie in holes that the program has just made, and that it is about to use again with
 * MAP_FIXED: what was free a moment ago, it believes to be free still.
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

/* Whether a mapping that begins there is in the area. */
bool memory_area_holds(uint64_t start);

/*
 * What is elsewhere, since it is huge, has to be in reach of code or the kernel wanted it so, is noted one by one;
 * where there are too many, or it is given back piece by piece, that is all that happens.
 */
void memory_area_note(uint64_t start, size_t size_bytes);
void memory_area_forget(uint64_t start);

/* Whether something of ours may lie at start <= a < end. What was taken and given back counts, too. */
bool memory_area_overlaps(uint64_t start, uint64_t end);

#endif
