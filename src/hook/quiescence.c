/* SPDX-License-Identifier: MIT */
/*
 * Threads note the epoch in which they began; a new epoch begins with each who waits. That a thread's note is seen, or
 * that it sees what was changed before, is ordered by a barrier on all CPUs that the waiting side asks the system for.
 */
#include "hook/quiescence.h"

#include "base/memory_barrier.h"
#include "base/raw_syscall.h"
#include "hook/hook_stub.h"
#include "hook/hook_thread.h"

#include <asm/unistd.h>
#include <linux/membarrier.h>
#include <stdatomic.h>

static _Atomic uint64_t epoch = 1;

void hook_quiescence_prepare(void)
{
    (void)raw_syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0);
}

static void barrier_everywhere(void)
{
    memory_barrier();
    if (raw_syscall(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0) != 0)
        (void)raw_syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0, 0, 0, 0);
}

void hook_busy_begin(struct hook_thread *thread)
{
    atomic_store_explicit(&thread->busy_since, atomic_load_explicit(&epoch, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}

void hook_busy_end(struct hook_thread *thread)
{
    /* Release: pairs with the acquire in hook_quiescence_reached. */
    atomic_store_explicit(&thread->busy_since, 0, memory_order_release);
}

void hook_quiescence_begin(struct hook_quiescence *quiescence)
{
    barrier_everywhere();
    quiescence->epoch = atomic_fetch_add_explicit(&epoch, 1, memory_order_seq_cst) + 1;
    barrier_everywhere();
}

bool hook_quiescence_reached(const struct hook_quiescence *quiescence)
{
    const struct hook_thread *own = hook_thread_current(), *thread;

    for (uint32_t i = 0; (thread = hook_thread_at(i)) != NULL; i++) {
        uint64_t since = atomic_load_explicit(&thread->busy_since, memory_order_acquire);

        if (since != 0 && since < quiescence->epoch && thread != own)
            return false;
    }
    return true;
}
