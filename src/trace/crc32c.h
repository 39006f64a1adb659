/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C (Castagnoli), as the files of a trace carry it: by the CPU's instruction where there is one, by tables
 * elsewhere. Callable from any thread.
 */
#ifndef GAIT_TRACE_CRC32C_H
#define GAIT_TRACE_CRC32C_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>

/* Of the bytes, behind others whose sum is `before`; 0: there are none. */
uint32_t crc32c(uint32_t before, const void *bytes, size_t size_bytes);

/* The same by tables, on every CPU. */
uint32_t crc32c_by_tables(uint32_t before, const void *bytes, size_t size_bytes);

/*
 * The sum of a file, what it is known by if it has no build ID: of all of an open one, from its beginning on. -ENOMEM;
 * or why it cannot be read.
 */
MUST_USE int file_sum_read(int fd, uint64_t *size_out, uint32_t *crc_out);

#endif
