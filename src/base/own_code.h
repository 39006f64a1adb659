/* SPDX-License-Identifier: MIT */
/*
 * Where the core's own code lies: the makefile links own_code_first.c before and own_code_last.c behind all the rest.
 * Only in programs and libraries that take the core in one piece; not in the agent, nor where sanitizers are used.
 */
#ifndef GAIT_BASE_OWN_CODE_H
#define GAIT_BASE_OWN_CODE_H

/* Not to be called: only their addresses count. */
void own_code_first(void);
void own_code_last(void);

#endif
