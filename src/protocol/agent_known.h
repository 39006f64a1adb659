/* SPDX-License-Identifier: MIT */
/*
 * Functions whose arguments the controller knows before the program runs, from debug information: a list in the agent's
 * options, by keys that both sides make of a file's name and an address in it. No locks, no libc; usable anywhere.
 */
#ifndef GAIT_PROTOCOL_AGENT_KNOWN_H
#define GAIT_PROTOCOL_AGENT_KNOWN_H

#include "base/glob.h"
#include "protocol/agent_call.h"

/* Of the function at an address, as the file has it, whose path ends with that name. */
uint64_t agent_known_key(struct glob_text path, uint64_t address);

/*
 * Adds one; its declaration is shared with those that have the same. The list is in no order until agent_known_sort.
 * False: there is no room.
 */
bool agent_known_add(struct agent_known *known, uint64_t key, const struct detail_declaration *declaration);

/* Puts them in order. */
void agent_known_sort(struct agent_known *known);

/* In a list that is in order; NULL: it is not there. */
const struct detail_declaration *agent_known_find(const struct agent_known *known, uint64_t key);

#endif
