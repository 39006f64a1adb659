/* SPDX-License-Identifier: MIT */
/*
 * Functions of which one of several is chosen when the program starts, as memcpy of libc: their symbol is that of a
 * resolver, which is called once and returns the address of the one that is meant. What it returns to a followed thread
 * is told as if it were the symbol's. One for the process.
 */
#ifndef GAIT_AGENT_RESOLVER_WATCH_H
#define GAIT_AGENT_RESOLVER_WATCH_H

#include "agent/selection.h"

/* What a pattern means is told by `found`: in the engine, on the thread that the resolver returned to. */
void resolver_watch_begin(struct stalker_engine *engine,
                          void (*found)(const struct agent_pattern *pattern, uint64_t address));
/* No thread is followed any more. */
void resolver_watch_end(void);

/* A resolver that matches. One call at a time. False: there is no memory for it. */
bool resolver_watch_add(const struct agent_pattern *pattern, uint64_t address);

#endif
