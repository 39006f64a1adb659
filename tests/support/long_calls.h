/* SPDX-License-Identifier: MIT */
/*
 * Hooked functions of a thread for the example of trace_folder.h, in several packed chunks that have counts: block 0
 * calls block 1, which calls block 2 again and again, until half of it is over; then block 0 calls block 1 anew.
 * Records are 16 ticks apart.
 */
#ifndef GAIT_TESTS_LONG_CALLS_H
#define GAIT_TESTS_LONG_CALLS_H

#include "support/trace_folder.h"

#define LONG_CALLS_CHUNK_BYTES 16384u
#define LONG_CALLS_CHUNKS      4u

/* When the chunk with that number begins, and the one before ends. */
#define LONG_CALLS_TIME(chunk) (1000u + (chunk)*LONG_CALLS_CHUNK_BYTES)

/* The records. */
void long_calls_make(struct trace_bytes *bytes);

/* Replaces what the thread did: 100 or 101. So many bytes are lost before each chunk but the first. */
void long_calls_put(const struct trace_folder *folder, uint32_t tid, uint64_t lost);

#endif
