/* SPDX-License-Identifier: MIT */
#include "agent/errno_place.h"

#include "arch/calling_thread.h"

#include <stdatomic.h>

static _Atomic uint64_t known; /* the address of: */
static struct variable_function function;

void errno_place_add(uint64_t address)
{
    if (atomic_load_explicit(&known, memory_order_relaxed) == 0 && variable_function_read(address, &function))
        atomic_store_explicit(&known, address, memory_order_release);
}

void errno_place_remove(uint64_t start, uint64_t end)
{
    uint64_t address = atomic_load_explicit(&known, memory_order_relaxed);

    if (address >= start && address < end)
        atomic_store_explicit(&known, 0, memory_order_relaxed);
}

uint64_t errno_place_find(void)
{
    return atomic_load_explicit(&known, memory_order_acquire) == 0 ? 0 : calling_thread_variable(&function);
}
