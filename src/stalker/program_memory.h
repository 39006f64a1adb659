/* SPDX-License-Identifier: MIT */
/*
 * Memory that the program gave an address of, which may be wrong: the kernel is asked before it is touched. Any thread,
 * signal-safe.
 */
#ifndef GAIT_STALKER_PROGRAM_MEMORY_H
#define GAIT_STALKER_PROGRAM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool program_memory_is_readable(uint64_t address, size_t size_bytes);

/* Some words of it are overwritten. A stack that can grow does. */
bool program_memory_make_writable(uint64_t address, size_t size_bytes);

#endif
