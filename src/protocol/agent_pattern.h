/* SPDX-License-Identifier: MIT */
/*
 * What a pattern's text means. "module!function": functions of those modules; "!function": functions of the program
 * itself; a function may be an address, "0x1230". Without the mark, it names modules if that is what it is for
 * (AGENT_PATTERN_EXCLUDE), and functions of the program itself otherwise. A module's name is the last part of its path;
 * where the pattern has a slash, all of it. No locks, no system calls, no libc; usable anywhere.
 */
#ifndef GAIT_PROTOCOL_AGENT_PATTERN_H
#define GAIT_PROTOCOL_AGENT_PATTERN_H

#include "base/glob.h"
#include "protocol/agent_call.h"

#include <stdbool.h>

/* Points into the pattern. */
struct agent_pattern_parts {
    struct glob_text module;   /* empty: the program itself */
    struct glob_text function; /* empty: all of the module */
    struct glob_text other;    /* functions besides; empty: none */
    uint64_t address; /* the function that has it, as the file has addresses, if it is spelled so; 0: it is not */
};

void agent_pattern_split(const struct agent_pattern *pattern, struct agent_pattern_parts *parts_out);

/* Whether it is about the module with that path; is_program: that is the program itself. */
bool agent_pattern_has_module(const struct agent_pattern_parts *parts, struct glob_text path, bool is_program);

/* Whether a function is meant that a linker knows by that name. */
bool agent_pattern_has_function(const struct agent_pattern_parts *parts, struct glob_text name);

/* Whether all of a module is meant, so that nobody has to know its functions. */
bool agent_pattern_is_whole(const struct agent_pattern_parts *parts);

#endif
