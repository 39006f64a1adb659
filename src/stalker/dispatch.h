/* SPDX-License-Identifier: MIT */
/* Where followed threads enter the engine, from the gates. */
#ifndef GAIT_STALKER_DISPATCH_H
#define GAIT_STALKER_DISPATCH_H

#include "stalker/event_buffer.h"

struct stalker_thread;

/* Finds out where the thread goes on, for `reason`, and sets `resume`. Runs on the engine's stack of that thread. */
void stalker_dispatch(struct stalker_thread *thread);

/* Hands the thread's events so far to its receiver. On the followed thread. */
void stalker_drain_events(struct stalker_thread *thread, enum event_place place);

/* Where threads that followed ones make begin, on the engine's stack. */
void stalker_thread_begin(struct stalker_thread *thread);

#endif
