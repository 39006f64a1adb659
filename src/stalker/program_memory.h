/* SPDX-License-Identifier: MIT */
/*
 * Memory that the program gave an address of, which may be wrong: the kernel is asked before it is touched. Any thread,
 * signal-safe.
 */
#ifndef GAIT_STALKER_PROGRAM_MEMORY_H
#define GAIT_STALKER_PROGRAM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stalker_engine;
struct system_call;

bool program_memory_is_readable(uint64_t address, size_t size_bytes);

/* Some words of it are overwritten. A stack that can grow does. */
bool program_memory_make_writable(uint64_t address, size_t size_bytes);

/* ---- memory of ours ---------------------------------------------------------------------------------------------- */

/*
 * What is ours in a process that others' code runs in. A program that maps, protects or unmaps addresses of its own
 * choice may come upon it, and must not have it: it is told that there is no memory, rather than that it all ends in a
 * way that nobody understands.
 */

/*
 * Whether a call that changes mappings would change one of ours. Always false in a process that follows itself: there
 * our own code may be what runs. No lock.
 */
bool own_memory_is_changed_by(const struct stalker_engine *engine, const struct system_call *call);

#endif
