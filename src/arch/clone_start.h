/* SPDX-License-Identifier: MIT */
/*
 * A process that shares memory with this one and begins in a function of ours, on a stack of its own. Implemented once
 * for each CPU in arch/<cpu>/host, because the new process comes out of the system call without a frame to return to.
 */
#ifndef GAIT_ARCH_CLONE_START_H
#define GAIT_ARCH_CLONE_START_H

#include "base/attributes.h"

#include <stdint.h>

/*
 * clone() with these flags (CLONE_VM among them); returns the new process's pid or -errno. There run(context) is called
 * with the stack that ends at stack_end, and the process ends with status 0 when it returns. Its thread pointer is the
 * caller's: nothing that uses thread-local data may be called. `ended` is for CLONE_CHILD_CLEARTID: the kernel stores 0
 * there and wakes one who waits for that when the process has ended, in whatever way. No libc, no locks; usable inside
 * the target, from any thread. -EOPNOTSUPP: not known for this CPU yet.
 */
MUST_USE long clone_start(unsigned long flags, void *stack_end, _Atomic uint32_t *ended, void (*run)(void *context),
                          void *context);

#endif
