/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a word in memory to change. Words may be shared by processes. Raw system calls: callable from any thread,
 * in signal handlers and inside the target, and from processes that share our memory without being us, which is why
 * sanitizers keep off.
 */
#ifndef GAIT_PROCESS_FUTEX_H
#define GAIT_PROCESS_FUTEX_H

#include "base/attributes.h"
#include "base/raw_syscall.h"

#include <asm/unistd.h>
#include <linux/futex.h>
#include <linux/time.h>
#include <linux/time_types.h>
#include <stdbool.h>
#include <stdint.h>

/* A time on CLOCK_MONOTONIC. */
struct futex_deadline {
    struct __kernel_timespec time;
};

UNSANITIZED static inline struct futex_deadline futex_deadline_add(struct futex_deadline deadline, unsigned timeout_ms)
{
    deadline.time.tv_sec += timeout_ms / 1000;
    deadline.time.tv_nsec += (long long)(timeout_ms % 1000) * 1000000;
    if (deadline.time.tv_nsec >= 1000000000) {
        deadline.time.tv_sec++;
        deadline.time.tv_nsec -= 1000000000;
    }
    return deadline;
}

UNSANITIZED static inline struct futex_deadline futex_deadline_after(unsigned timeout_ms)
{
    struct futex_deadline now;

    (void)raw_syscall(__NR_clock_gettime, CLOCK_MONOTONIC, (long)&now.time, 0, 0, 0, 0);
    return futex_deadline_add(now, timeout_ms);
}

/* How long it is from one time to a later one. */
static inline uint64_t futex_deadline_ns_between(const struct futex_deadline *from, const struct futex_deadline *to)
{
    return (uint64_t)((to->time.tv_sec - from->time.tv_sec) * 1000000000 + (to->time.tv_nsec - from->time.tv_nsec));
}

static inline bool futex_deadline_passed(const struct futex_deadline *deadline)
{
    struct futex_deadline now = futex_deadline_after(0);

    if (now.time.tv_sec != deadline->time.tv_sec)
        return now.time.tv_sec > deadline->time.tv_sec;
    return now.time.tv_nsec >= deadline->time.tv_nsec;
}

/*
 * Sleeps while the word has the value, until woken, at most until the deadline (NULL: none). 0: woken, perhaps for
 * no reason; -EAGAIN: the value is another; -EINTR: a signal came; -ETIMEDOUT.
 */
UNSANITIZED static inline int futex_wait(_Atomic uint32_t *word, uint32_t value, const struct futex_deadline *deadline)
{
    return (int)raw_syscall(__NR_futex, (long)word, FUTEX_WAIT_BITSET, value, (long)deadline, 0,
                            FUTEX_BITSET_MATCH_ANY);
}

/* Wakes up to `count` of those who wait. */
UNSANITIZED static inline void futex_wake(_Atomic uint32_t *word, int count)
{
    (void)raw_syscall(__NR_futex, (long)word, FUTEX_WAKE, count, 0, 0, 0);
}

#endif
