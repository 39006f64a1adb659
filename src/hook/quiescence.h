/* SPDX-License-Identifier: MIT */
/* The other side of hook_quiescence in hook_stub.h: threads say when they look at what may be taken away. */
#ifndef GAIT_HOOK_QUIESCENCE_H
#define GAIT_HOOK_QUIESCENCE_H

#include "hook/hook_thread.h"

#include <stdatomic.h>
#include <stdint.h>

extern _Atomic uint64_t hook_epoch;

/* Once, before threads are watched. */
void hook_quiescence_prepare(void);

/* Between these, what the thread finds stays. Not nested. No fence: it is up to whoever waits. */
static inline void hook_busy_begin(struct hook_thread *thread)
{
    atomic_store_explicit(&thread->busy_since, atomic_load_explicit(&hook_epoch, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void hook_busy_end(struct hook_thread *thread)
{
    /* Release: pairs with the acquire in hook_quiescence_reached. */
    atomic_store_explicit(&thread->busy_since, 0, memory_order_release);
}

#endif
