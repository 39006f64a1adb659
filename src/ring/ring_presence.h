/* SPDX-License-Identifier: MIT */
/*
 * Being there: lets the writers of rings see that the thread which reads them lives, and that it does not any more,
 * also if it is killed. The kernel sees to that by the thread's list of robust futexes; the C library's is replaced, so
 * the thread must use no robust mutexes of that. One thread of the process.
 */
#ifndef GAIT_RING_RING_PRESENCE_H
#define GAIT_RING_RING_PRESENCE_H

#include "base/attributes.h"

#define RING_PRESENCE_MAX 1024

/*
 * The calling thread is the reader of the ring that a descriptor stands for; the descriptor is not kept. The place that
 * is given is for ring_presence_end. -ENOSPC: there are too many; -ENOMEM, and what mmap gives.
 */
MUST_USE int ring_presence_begin(int ring_fd, int *place_out);

/* It is no longer: to the writers it is dead. A negative place is fine. */
void ring_presence_end(int place);

#endif
