/* SPDX-License-Identifier: MIT */
/*
 * What the process leaves in its ring when a signal ends it: the signal, registers and stack of the thread that got it,
 * and what the other threads were doing. And which signals are triggers. One for the process.
 */
#ifndef GAIT_AGENT_CRASH_WATCH_H
#define GAIT_AGENT_CRASH_WATCH_H

#include <stdint.h>

struct ring_region;

/* From now on, for threads that begin to be followed. Bit n - 1 of trigger_signals: signal n is told as a trigger. */
void crash_watch_begin(struct ring_region *ring, uint64_t trigger_signals);

/* In a child that was just forked, with a ring of its own. */
void crash_watch_begin_in_child(void);

/* No more; no thread is followed. */
void crash_watch_end(void);

#endif
