/* SPDX-License-Identifier: MIT */
/*
 * A lock for the few slow paths that change shared state. Waits in the kernel (futex) when somebody else has it; not
 * recursive, so not for signal handlers that may interrupt its holder. No libc; usable inside the target.
 */
#ifndef GAIT_BASE_MUTEX_H
#define GAIT_BASE_MUTEX_H

#include "base/attributes.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A zeroed one is free. */
struct CAPABILITY("mutex") mutex {
    _Atomic uint32_t state;
};

void mutex_lock(struct mutex *mutex) ACQUIRES(*mutex);
void mutex_unlock(struct mutex *mutex) RELEASES(*mutex);

/* Takes the lock if nobody has it. Never waits. */
MUST_USE bool mutex_try_lock(struct mutex *mutex) TRY_ACQUIRES(true, *mutex);

#endif
