/* SPDX-License-Identifier: MIT */
/*
 * Traps in the place of jumps, for what has no room for one: the thread comes by way of a signal handler, which sends
 * it to where the trap leads. Signals that are none of ours go on to the handler that the program has, or do what they
 * do by default.
 *
 * What cannot be helped: a thread that meets a trap while it blocks SIGTRAP is ended by the kernel; and a program that
 * sets a handler of its own for SIGTRAP afterwards must not have it set before trap_table_renew was called again.
 *
 * One in a process. Changes by one thread at a time; handlers run on any. No libc; usable inside the target.
 */
#ifndef GAIT_HOOK_TRAP_TABLE_H
#define GAIT_HOOK_TRAP_TABLE_H

#include "base/attributes.h"

#include <stdint.h>

/*
 * A trap at that address leads to target, now or soon. The handler is installed with the first one. -ENOMEM;
 * -EOPNOTSUPP: not on this CPU.
 */
MUST_USE int trap_table_set(uint64_t address, uint64_t target);

/*
 * There is no trap any more, but threads may be on their way to the handler: they execute what stands there now. Known
 * for good.
 */
void trap_table_clear(uint64_t address);

/* Installs the handler again if the program has put its own in its place, which is then called for what is not ours. */
void trap_table_renew(void);

/* Gives the program its handler back, unless it has changed it itself. No trap may be left. */
void trap_table_end(void);

#endif
