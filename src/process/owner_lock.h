/* SPDX-License-Identifier: MIT */
/*
 * A lock that knows its owner's tid, for the few slow things of which one is done at a time in a process. It does not
 * stay locked forever when its owner is gone: after a fork the child has the memory, but not the thread that held the
 * lock. Nor does it depend on the owner's wake-up call: a waiting thread looks again every now and then. All zeroes is
 * free. Raw system calls: callable from any thread and inside the target; in signal handlers only if the owner holds
 * all signals back.
 */
#ifndef GAIT_PROCESS_OWNER_LOCK_H
#define GAIT_PROCESS_OWNER_LOCK_H

#include "base/attributes.h"

#include <stdint.h>

struct owner_lock {
    _Atomic uint32_t word; /* the owner's tid, and whether a thread waits */
};

/* -ETIMEDOUT: the owner kept it for too long; -EDEADLK: the calling thread is the owner. */
MUST_USE int owner_lock_acquire(struct owner_lock *lock, unsigned timeout_ms);

/* By the owner only. */
void owner_lock_release(struct owner_lock *lock);

#endif
