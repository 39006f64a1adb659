/* SPDX-License-Identifier: MIT */
/*
 * Static probes of a session that follows threads: their translated code calls us where a probe is, and the program's
 * own code stays as it is. One for the process.
 */
#ifndef GAIT_AGENT_PROBE_WATCH_H
#define GAIT_AGENT_PROBE_WATCH_H

#include <stdint.h>

struct probe_search;
struct stalker_engine;

void probe_watch_begin(struct stalker_engine *engine);

/* No thread is followed, and the engine is gone. */
void probe_watch_end(void);

/* Adds probes of a module, and raises their semaphores. In the engine or before threads are followed. */
uint64_t probe_watch_add(const struct probe_search *search);

#endif
