/* SPDX-License-Identifier: MIT */
/* The sum of a file: what it is known by if it has no build ID. Callable from any thread. */
#ifndef GAIT_TRACE_FILE_SUM_H
#define GAIT_TRACE_FILE_SUM_H

#include "base/attributes.h"

#include <stdint.h>

/* Reads all of an open file, from its beginning on: CRC-32C. -ENOMEM; or why it cannot be read. */
MUST_USE int file_sum_read(int fd, uint64_t *size_out, uint32_t *crc_out);

#endif
