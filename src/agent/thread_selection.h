/* SPDX-License-Identifier: MIT */
/* Which threads the patterns of a session mean, by their names or numbers. One for the process. */
#ifndef GAIT_AGENT_THREAD_SELECTION_H
#define GAIT_AGENT_THREAD_SELECTION_H

struct agent_options;
struct ring_region;
struct thread_chooser;

/*
 * Takes the patterns, of which it keeps copies; the ring is told which ones matched a thread. NULL: there are none, so
 * all threads are meant.
 */
const struct thread_chooser *thread_selection_begin(const struct agent_options *options, struct ring_region *ring);

#endif
