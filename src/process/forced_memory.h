/* SPDX-License-Identifier: MIT */
/*
 * Memory of this process by way of /proc/self/mem: reads that fail where nothing is mapped instead of faulting, and
 * writes that need no write permission. Pages of a file that is mapped privately become this process's own when they
 * are written, as with a debugger's breakpoints; their protection stays what it is, at every moment.
 *
 * Raw system calls, no locks: callable from any thread, in signal handlers and inside the target. A descriptor is open,
 * close-on-exec, from init to deinit.
 */
#ifndef GAIT_PROCESS_FORCED_MEMORY_H
#define GAIT_PROCESS_FORCED_MEMORY_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>

struct forced_memory {
    int fd;
};

/*
 * A process that is not dumpable is made so for the moment. -ENOENT: there is no /proc; -EACCES; -EMFILE, -ENFILE: no
 * descriptor left.
 */
MUST_USE int forced_memory_init(struct forced_memory *memory);
void forced_memory_deinit(struct forced_memory *memory);

/* How many bytes could be read, from the first on. */
size_t forced_memory_read(const struct forced_memory *memory, uint64_t address, void *bytes_out, size_t size_bytes);

/* -EFAULT: not all of it is mapped, or may be written even so; then some of it may have been. */
MUST_USE int forced_memory_write(const struct forced_memory *memory, uint64_t address, const void *bytes,
                                 size_t size_bytes);

#endif
