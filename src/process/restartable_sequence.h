/* SPDX-License-Identifier: MIT */
/*
 * Restartable sequences (rseq): stretches of a program's code that must not be interrupted. When a thread is, the
 * kernel has it go on at the sequence's abort handler, but decides so only when the thread goes on, by the pc that it
 * has then. A caller that moves the pc of a thread in between must handle that itself. No system calls, no locks;
 * usable inside the target, and in processes that share our memory.
 */
#ifndef GAIT_PROCESS_RESTARTABLE_SEQUENCE_H
#define GAIT_PROCESS_RESTARTABLE_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

struct thread_registers;

/*
 * Does what the kernel would with a stopped thread whose registered struct rseq is at `area`: if the pc is in a
 * sequence, the thread leaves it by way of its abort handler. Returns whether the pc has changed.
 */
bool restartable_sequence_abort(uint64_t area, struct thread_registers *registers);

#endif
