/* SPDX-License-Identifier: MIT */
/*
 * A run of pages that is mapped in one go, and of which mappings of private memory are taken as long as it lasts: for
 * who begins by mapping many small ones, each of which takes the kernel some two microseconds. What is taken is given
 * back as any mapping is. Any thread, any signal handler; no lock.
 */
#ifndef GAIT_BASE_MEMORY_RUN_H
#define GAIT_BASE_MEMORY_RUN_H

#include <stddef.h>
#include <stdint.h>

/* From now on start <= a < end, which was mapped for reading and writing and is zeroed, is the run. One at a time. */
void memory_run_begin(uint64_t start, uint64_t end);

/* Takes whole pages. 0: there are not that many. */
uint64_t memory_run_take(size_t size_bytes);

/* There is no run any more: returns where the rest of it begins that nobody took, up to *end_out. 0: there is none. */
uint64_t memory_run_end(uint64_t *end_out);

#endif
