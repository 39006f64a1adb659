/* SPDX-License-Identifier: MIT */
/*
 * Where in a frame that the kernel has put on a stack for a signal handler the interrupted registers are. A frame is
 * known by the word that its handler returns to, the program's restorer. Implemented once for each CPU in
 * arch/<cpu>/host. No libc, no state; usable inside the target, from any thread.
 */
#ifndef GAIT_ARCH_SIGNAL_SAVED_H
#define GAIT_ARCH_SIGNAL_SAVED_H

#include <stdint.h>

/* From the address of that word to those of the pc and the stack pointer. 0: not known on this CPU. */
uint64_t signal_saved_pc_at(uint64_t frame);
uint64_t signal_saved_sp_at(uint64_t frame);

/* Of a handler's third argument: where the pc is that it returns to. */
uint64_t signal_saved_pc_in(uint64_t ucontext);

/* How far behind a trap instruction the pc is that a handler of its signal is shown. */
uint64_t signal_trap_distance(void);

/* What handlers return to, for actions that need one: 0 where the kernel has its own. */
uint64_t signal_restorer(void);

#endif
