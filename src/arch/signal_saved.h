/* SPDX-License-Identifier: MIT */
/*
 * Where in a frame that the kernel has put on a stack for a signal handler the interrupted registers are. A frame is
 * known by the word that its handler returns to, the program's restorer. Implemented once for each CPU in
 * arch/<cpu>/host. No libc, no state; usable inside the target, from any thread.
 */
#ifndef GAIT_ARCH_SIGNAL_SAVED_H
#define GAIT_ARCH_SIGNAL_SAVED_H

#include <stdint.h>

/* From the address of the word to those of the pc and the stack pointer. 0: not known on this CPU. */
uint64_t signal_saved_pc_at(uint64_t frame);
uint64_t signal_saved_sp_at(uint64_t frame);

#endif
