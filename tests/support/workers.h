/* SPDX-License-Identifier: MIT */
/* Spreads the independent parts of a long test over the CPUs. */
#ifndef GAIT_TESTS_WORKERS_H
#define GAIT_TESTS_WORKERS_H

#include <stddef.h>

/* How many threads workers_run uses. */
unsigned workers_count(void);

/*
 * Calls job(context, worker, number) once for each number below `count`, on as many threads as there are CPUs; `worker`
 * is the thread's own number, below workers_count(). Numbers are handed out in order. Returns when all are done.
 */
void workers_run(size_t count, void (*job)(void *context, unsigned worker, size_t number), void *context);

#endif
