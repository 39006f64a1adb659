/* SPDX-License-Identifier: MIT */
/*
 * What is ours in a process that others' code runs in. A program that maps, protects or unmaps addresses of its own
 * choice may come upon it, and must not have it: it is told that there is no memory, rather than that it all ends in a
 * way that nobody understands.
 */
#ifndef GAIT_STALKER_OWN_MEMORY_H
#define GAIT_STALKER_OWN_MEMORY_H

#include <stdbool.h>

struct stalker_engine;
struct system_call;

/*
 * Whether a call that changes mappings would change one of ours. Always false in a process that follows itself: there
 * our own code may be what runs. No lock.
 */
bool own_memory_is_changed_by(const struct stalker_engine *engine, const struct system_call *call);

#endif
