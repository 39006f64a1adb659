/* SPDX-License-Identifier: MIT */
/*
 * Where in the program a thread is that a signal has interrupted in code of hooks: at the instruction whose copy runs
 * in a trampoline; at the beginning of the function whose stub, or whose stub's gate, it is on its way through; or at
 * where that function returns to, if it is on its way back. The stack pointer is what it would be there.
 */
#ifndef GAIT_AGENT_INTERRUPTED_PLACE_H
#define GAIT_AGENT_INTERRUPTED_PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct hook_thread;

struct interrupted_place {
    uint64_t pc;
    uint64_t sp;
};

/* Once for a session: where the agent is. */
void interrupted_place_begin(uint64_t image_start, uint64_t image_bytes);

/*
 * False: that is no code of ours, or nobody can say. Of the calling thread; the set of hooks may not be changed
 * meanwhile.
 */
bool interrupted_place_find(const struct hook_thread *thread, struct interrupted_place from,
                            struct interrupted_place *found_out);

/* Whether what is found of an address is exact: the thread could go on there, in the program. Not in gates. */
bool interrupted_place_is_exact(uint64_t pc);

#endif
