/* SPDX-License-Identifier: MIT */
/* All structs of followed threads that there are, of all engines: so that a signal handler knows one when it sees it.
 */
#ifndef GAIT_STALKER_THREAD_REGISTRY_H
#define GAIT_STALKER_THREAD_REGISTRY_H

#include "base/attributes.h"

struct stalker_thread;

/*
 * From a struct's first use to its end, and again when its thread id is another one; then it cannot fail. -ENOMEM.
 */
MUST_USE int thread_registry_add(struct stalker_thread *thread);
void thread_registry_remove(struct stalker_thread *thread);

/*
 * The calling thread's struct, or NULL: it has none. It has one also before it is in the cache, and after it has left
 * it. Signal-safe, no lock.
 */
struct stalker_thread *thread_registry_current(void);

/* Gives all memory back. No thread may be followed, and no signal may come to us, any more. */
void thread_registry_deinit(void);

/* Around a fork, for the child's sake. */
void thread_registry_lock(void);
void thread_registry_unlock(void);

#endif
