/* SPDX-License-Identifier: MIT */
/*
 * The CPU's own instruction for CRC-32C, where it has one. Implemented once for each CPU in arch/<cpu>/host;
 * trace/crc32c.h is what to call. Callable from anywhere.
 */
#ifndef GAIT_BASE_CRC32C_INSTRUCTION_H
#define GAIT_BASE_CRC32C_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether this CPU has it. */
bool crc32c_instruction_exists(void);

/* Takes bytes into the register of the computation, which is neither inverted before nor afterwards. */
uint32_t crc32c_instruction_run(uint32_t state, const void *bytes, size_t size_bytes);

#endif
