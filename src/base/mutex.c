/* SPDX-License-Identifier: MIT */
/*
 * 0: free, 1: taken, 2: taken and somebody may wait. Whoever has waited takes it as 2, since others may wait still; so
 * an unlock that finds 1 needs no system call.
 */
#include "base/mutex.h"

#include "base/raw_syscall.h"

#include <asm/unistd.h>
#include <linux/futex.h>

enum mutex_state {
    FREE,
    TAKEN,
    CONTENDED,
};

NO_THREAD_SAFETY_ANALYSIS bool mutex_try_lock(struct mutex *mutex)
{
    uint32_t expected = FREE;

    /* Acquire: pairs with the release in mutex_unlock. */
    return atomic_compare_exchange_strong_explicit(&mutex->state, &expected, TAKEN, memory_order_acquire,
                                                   memory_order_relaxed);
}

NO_THREAD_SAFETY_ANALYSIS void mutex_lock(struct mutex *mutex)
{
    if (mutex_try_lock(mutex))
        return;
    while (atomic_exchange_explicit(&mutex->state, CONTENDED, memory_order_acquire) != FREE)
        raw_syscall(__NR_futex, (long)&mutex->state, FUTEX_WAIT_PRIVATE, CONTENDED, 0, 0, 0);
}

NO_THREAD_SAFETY_ANALYSIS void mutex_unlock(struct mutex *mutex)
{
    /* Release: pairs with the acquire of whoever takes it next. */
    if (atomic_exchange_explicit(&mutex->state, FREE, memory_order_release) == CONTENDED)
        raw_syscall(__NR_futex, (long)&mutex->state, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}
