/* SPDX-License-Identifier: MIT */
/*
 * Looking at memory of this process that may not be there: the kernel looks, and says so instead of faulting. Raw
 * system calls, no locks, no libc: callable from any thread, in signal handlers and inside the target.
 */
#ifndef GAIT_PROCESS_MEMORY_PROBE_H
#define GAIT_PROCESS_MEMORY_PROBE_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_memory;

/* Whether the eight bytes there can be read. */
bool memory_probe(uint64_t address);

/*
 * Copies so many bytes from there. -EFAULT: not all of them can be read. Where the system forbids a process to look at
 * itself that way (a filter of system calls), each page is looked at first, which is as good unless another thread
 * unmaps it right then.
 */
MUST_USE int memory_probe_copy(uint64_t address, void *bytes_out, size_t size_bytes);

/* How many of so many bytes from there on can be read, which are copied: those before the first page that cannot. */
size_t memory_probe_copy_some(uint64_t address, void *bytes_out, size_t size_bytes);

/*
 * Writes so many bytes there. -EFAULT: not all of them can be written, some of them may be; -EPERM, -ENOSYS: the system
 * forbids a process to do that to itself.
 */
MUST_USE int memory_probe_write(uint64_t address, const void *bytes, size_t size_bytes);

/* The same for who reads images. */
extern const struct elf_memory memory_probe_reader;

#endif
