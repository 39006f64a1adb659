/* SPDX-License-Identifier: MIT */
/* Whether a function's own code jumps back to its first instruction: then coming there is not always a call. */
#ifndef GAIT_AGENT_ENTRY_LOOP_H
#define GAIT_AGENT_ENTRY_LOOP_H

#include <stdbool.h>
#include <stdint.h>

/* Looks at its instructions; where nobody knows how long it is, or it cannot be read, it may be so. Any thread. */
bool entry_loop_may_be(uint64_t address, uint64_t size_bytes);

#endif
