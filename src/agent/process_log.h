/* SPDX-License-Identifier: MIT */
/*
 * Tells whoever reads the ring that the process forks or executes another program, so that children and programs are
 * recorded too; and notices when nobody reads any more. Waits for answers, but never for long. One for the process.
 */
#ifndef GAIT_AGENT_PROCESS_LOG_H
#define GAIT_AGENT_PROCESS_LOG_H

#include "stalker/engine.h"

#include <stdbool.h>

struct ring_region;

/*
 * Takes the ring over, and gives what the engine tells of processes. Without with_children, children are not followed,
 * and nothing is announced.
 */
const struct process_watcher *process_log_begin(struct ring_region *ring, bool with_children);

/* Gives the ring back. */
void process_log_end(void);

#endif
