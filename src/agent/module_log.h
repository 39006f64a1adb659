/* SPDX-License-Identifier: MIT */
/*
 * Which files are mapped to be executed, for whoever reads the ring: what is there when the session begins, and each
 * change that a followed thread makes. One for the process; threads wait for each other.
 */
#ifndef GAIT_AGENT_MODULE_LOG_H
#define GAIT_AGENT_MODULE_LOG_H

#include "stalker/stalker_engine.h"

struct ring_region;

/*
 * Tells what is mapped now, and gives what the engine tells of changes from now on. `source`, if there is one, learns
 * what is code: nobody may change mappings whom the engine does not follow.
 */
const struct mapping_watcher *module_log_begin(struct ring_region *ring, struct code_source *source);

/* In a child that was just forked, with a ring of its own: tells all again. */
void module_log_begin_in_child(void);

/* Tells what was mapped or unmapped since it began, by threads that nobody follows. */
void module_log_look_again(void);

/* Gives its memory back. */
void module_log_end(void);

#endif
