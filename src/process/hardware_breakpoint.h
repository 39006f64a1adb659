/* SPDX-License-Identifier: MIT */
/*
 * The CPU's own breakpoints, for one thread: it gets SIGTRAP right before it runs an instruction, or right after it has
 * touched some memory. Set by perf_event_open(), so no tracer is needed. The user that sets one has a handler for
 * SIGTRAP. A CPU has a few of them. Raw system calls, no locks, no memory: any thread, inside the
 * target.
 */
#ifndef GAIT_PROCESS_HARDWARE_BREAKPOINT_H
#define GAIT_PROCESS_HARDWARE_BREAKPOINT_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

enum hardware_breakpoint_kind {
    HARDWARE_EXECUTE,
    HARDWARE_WRITE,
    HARDWARE_ACCESS, /* read or written */
};

struct hardware_breakpoint {
    int tid;
    enum hardware_breakpoint_kind kind;
    uint64_t address;
    unsigned size_bytes; /* of memory: 1, 2, 4 or 8, and the address a multiple of it; 0 for instructions */
    uint64_t tag;        /* comes with the signal; not 0 */
};

/*
 * Sets it; closing the descriptor removes it, and so do the end of the thread and execve().
 *
 * -EINVAL: a size or address that the CPU cannot watch; -ENOSPC: all of the thread's are in use, by us or others;
 * -ESRCH: no such thread; -EACCES, -EPERM: the system forbids it (kernel.perf_event_paranoid); -EOPNOTSUPP: it cannot
 * (an older kernel than 5.13, a CPU or a virtual machine without them); -EMFILE, -ENFILE.
 */
MUST_USE int hardware_breakpoint_set(const struct hardware_breakpoint *breakpoint, int *fd_out);
void hardware_breakpoint_clear(int fd);

/* The tag of the one that a signal is of, and the address that was watched; false: it is of something else. */
bool hardware_breakpoint_of_signal(const void *siginfo, uint64_t *tag_out, uint64_t *address_out);

#endif
