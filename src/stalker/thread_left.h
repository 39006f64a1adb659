/* SPDX-License-Identifier: MIT */
/* A thread goes on without being followed: it is counted, and told in its ring, so that nobody has to wonder. */
#ifndef GAIT_STALKER_THREAD_LEFT_H
#define GAIT_STALKER_THREAD_LEFT_H

#include "ring/left_log.h"

struct stalker_thread;

/* The thread is in the engine, with the program's pc in its context. */
void thread_left_tell(const struct stalker_thread *thread, enum ring_left_reason reason);

#endif
