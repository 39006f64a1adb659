/* SPDX-License-Identifier: MIT */
#include "agent/errno_place.h"

#include "arch/calling_thread.h"

#include <stdatomic.h>

static _Atomic uint64_t known;

void errno_place_add(uint64_t function)
{
    uint64_t none = 0;

    atomic_compare_exchange_strong_explicit(&known, &none, function, memory_order_relaxed, memory_order_relaxed);
}

void errno_place_remove(uint64_t start, uint64_t end)
{
    uint64_t function = atomic_load_explicit(&known, memory_order_relaxed);

    if (function >= start && function < end)
        atomic_compare_exchange_strong_explicit(&known, &function, 0, memory_order_relaxed, memory_order_relaxed);
}

uint64_t errno_place_find(void)
{
    uint64_t function = atomic_load_explicit(&known, memory_order_relaxed);

    return function == 0 ? 0 : calling_thread_variable(function);
}
