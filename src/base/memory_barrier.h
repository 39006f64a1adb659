/* SPDX-License-Identifier: MIT */
/* Keeps all accesses to memory before it before all behind it, as every thread and process sees them. */
#ifndef GAIT_BASE_MEMORY_BARRIER_H
#define GAIT_BASE_MEMORY_BARRIER_H

#include <stdatomic.h>

/* The thread sanitizer does not follow fences: what they order is for it unordered, and is not shown to it. */
#if defined(__SANITIZE_THREAD__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif

static inline void memory_barrier(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}

#if defined(__SANITIZE_THREAD__)
#pragma GCC diagnostic pop
#endif

#endif
