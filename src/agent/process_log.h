/* SPDX-License-Identifier: MIT */
/*
 * Tells whoever reads the ring that the process forks or executes another program, so that children and programs are
 * recorded too; and notices when nobody reads any more. Waits for answers, but never for long. One for the process.
 */
#ifndef GAIT_AGENT_PROCESS_LOG_H
#define GAIT_AGENT_PROCESS_LOG_H

#include "stalker/stalker_engine.h"

#include <stdbool.h>
#include <stdint.h>

struct ring_notice;
struct ring_region;

/*
 * Takes the ring over, and gives what the engine tells of processes. children: enum agent_children;
 * without them none are followed, and nothing is announced.
 */
const struct process_watcher *process_log_begin(struct ring_region *ring, uint32_t children);

/* Gives the ring back. */
void process_log_end(void);

/* ---- the same, for whoever follows nothing ----------------------------------------------------------------------- */

/* A thread is about to fork; and it could not, after all. */
void process_log_fork_begins(void);
void process_log_fork_failed(void);

/* In a child that was just forked: gives it a ring of its own. False: nobody reads it, nothing may be written. */
bool process_log_child_began(void);

/* Whether executing that path, of execveat with those flags, may succeed: where not, nobody need be asked. */
bool process_log_can_execute(long folder, long path, long flags);

/*
 * The thread is about to execute a program, or to make a process in its own memory. NULL: nobody waits for that. What
 * was announced and did not happen is to be retracted; NULL is fine.
 */
struct ring_notice *process_log_announce(bool is_exec, int tid);
void process_log_retract(struct ring_notice *notice, int tid);

#endif
