/* SPDX-License-Identifier: MIT */
/*
 * What is remembered of calls that seem to be over without having returned, for the case that they return after all:
 * whoever copies stacks away and back, or keeps them where nobody would look for one, must not crash for it. Bounded:
 * the oldest are forgotten. Any thread; a short lock, with signals blocked. No libc.
 */
#ifndef GAIT_HOOK_INVOCATION_GRAVE_H
#define GAIT_HOOK_INVOCATION_GRAVE_H

#include "hook/invocation_stack.h"

#include <stdbool.h>
#include <stdint.h>

void invocation_grave_add(const struct invocation *invocation);

/* All calls of a stack. */
void invocation_grave_add_all(const struct invocation_stack *stack);

/*
 * Where the latest such call is to return to. It stays, but counts as returned: those that have are looked at only if
 * asked for. False: it is not known.
 */
bool invocation_grave_find(uint64_t slot, uint64_t stub, bool with_returned, uint64_t *return_address_out);

#endif
