/* SPDX-License-Identifier: MIT */
/* Where followed threads enter the engine, from the gates. */
#ifndef GAIT_STALKER_DISPATCH_H
#define GAIT_STALKER_DISPATCH_H

struct stalker_thread;

/* Finds out where the thread goes on, for `reason`, and sets `resume`. Runs on the engine's stack of that thread. */
void stalker_dispatch(struct stalker_thread *thread);

#endif
