/* SPDX-License-Identifier: MIT */
/*
 * Input for compressors, as mixed as what a disk holds: prose, tables of binary records, near copies of earlier parts,
 * noise.
 */
#ifndef GAIT_BENCH_MIXED_DATA_H
#define GAIT_BENCH_MIXED_DATA_H

#include <stddef.h>
#include <stdint.h>

/* Fills bytes; the same seed and size give the same bytes. Callable from anywhere. */
void mixed_data_fill(uint64_t seed, uint8_t *bytes, size_t size_bytes);

#endif
