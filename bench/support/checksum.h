/* SPDX-License-Identifier: MIT */
/*
 * A 64-bit checksum of what a workload made, so cheap that it does not show beside the work. It depends on the order of
 * what is added, and is for comparing equal results only. No state; callable from anywhere.
 */
#ifndef GAIT_BENCH_CHECKSUM_H
#define GAIT_BENCH_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of nothing. */
#define CHECKSUM_START UINT64_C(0x6a09e667f3bcc908)

/* The checksum after one more number. */
uint64_t checksum_add(uint64_t checksum, uint64_t number);

/* The checksum after more bytes and their count. */
uint64_t checksum_add_bytes(uint64_t checksum, const void *bytes, size_t size_bytes);

#endif
