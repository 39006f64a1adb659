/* SPDX-License-Identifier: MIT */
/*
 * Functions that the controller has looked up for patterns that a name as linkers have it does not tell: by address, by
 * line, by a name as the source has it. A list in the agent's options. For a pattern that was looked up in a file there
 * is an entry, at least one without an address; the agent compares no names for it there. No locks, no libc; usable
 * anywhere.
 */
#ifndef GAIT_PROTOCOL_AGENT_PLACES_H
#define GAIT_PROTOCOL_AGENT_PLACES_H

#include "base/glob.h"
#include "protocol/agent_call.h"

/* What stands for the file with that path. */
uint64_t agent_places_module(struct glob_text path);

/* Adds one, UINT64_MAX for none. False: there is no room. */
bool agent_places_add(struct agent_places *places, uint64_t module, uint64_t address, uint64_t patterns);

/* The patterns that were looked up in a file. */
uint64_t agent_places_patterns(const struct agent_places *places, uint64_t module);

/* The next entry of the module from `at` on, which goes on behind it; NULL: there is none. */
const struct agent_place *agent_places_next(const struct agent_places *places, uint64_t module, uint32_t *at);

#endif
