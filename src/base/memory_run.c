/* SPDX-License-Identifier: MIT */
/* Relaxed: nothing is read through the numbers, and who takes pages is the first to touch them. */
#include "base/memory_run.h"

#include <stdatomic.h>

static struct {
    _Atomic uint64_t next; /* 0: there is no run */
    _Atomic uint64_t end;
} run;

void memory_run_begin(uint64_t start, uint64_t end)
{
    atomic_store_explicit(&run.end, end, memory_order_relaxed);
    atomic_store_explicit(&run.next, start, memory_order_release);
}

uint64_t memory_run_take(size_t size_bytes)
{
    /* Acquire: pairs with the release of the beginning, so that the end is that of this run. */
    uint64_t next = atomic_load_explicit(&run.next, memory_order_acquire);

    do
        if (next == 0 || atomic_load_explicit(&run.end, memory_order_relaxed) - next < size_bytes)
            return 0;
    while (!atomic_compare_exchange_weak_explicit(&run.next, &next, next + size_bytes, memory_order_acquire,
                                                  memory_order_acquire));
    return next;
}

uint64_t memory_run_end(uint64_t *end_out)
{
    uint64_t next = atomic_exchange_explicit(&run.next, 0, memory_order_acquire);

    *end_out = atomic_load_explicit(&run.end, memory_order_relaxed);
    return next < *end_out ? next : 0;
}
