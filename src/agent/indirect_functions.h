/* SPDX-License-Identifier: MIT */
/*
 * Functions of which one of several is chosen when the program starts, as strcmp of libc: what is at their address is a
 * resolver, whose result is what is called. It can be asked when its module is relocated, which is known when the
 * dynamic loader says so. Until then, patterns that mean one wait here. One for the process; the caller sees to it that
 * there is one call at a time.
 */
#ifndef GAIT_AGENT_INDIRECT_FUNCTIONS_H
#define GAIT_AGENT_INDIRECT_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

/* Forgets all. */
void indirect_functions_clear(void);

#define INDIRECT_NAME_BYTES 48u

/*
 * The resolver is at that address, and has that name, of which as much is kept as there is room for. What there is no
 * room for stays unresolved.
 */
void indirect_functions_add(uint64_t resolver, uint64_t patterns, const char *name, size_t name_length);

/* What was in that range is gone. */
void indirect_functions_remove(uint64_t start, uint64_t end);

/* Everything that was added so far is relocated from the next time on that they are asked. */
void indirect_functions_settle(void);

/* Asks those that can be, and tells once what each has chosen. In no place where vector registers are alive. */
void indirect_functions_resolve(void (*found)(uint64_t target, uint64_t patterns, const char *name));

#endif
