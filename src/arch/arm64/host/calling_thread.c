/* SPDX-License-Identifier: MIT */
/* The thread pointer is TPIDR_EL0. */
#include "arch/calling_thread.h"

#include <stdatomic.h>

uint64_t calling_thread_pointer(void)
{
    uint64_t pointer;

    __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
    return pointer;
}

uint64_t calling_thread_add(_Atomic uint64_t *word, uint64_t more)
{
    return atomic_fetch_add_explicit(word, more, memory_order_relaxed);
}

void calling_thread_vectors(uint64_t values_out[CALLING_THREAD_VECTORS])
{
    __asm__ volatile("stp d0, d1, [%0]\n\t"
                     "stp d2, d3, [%0, 16]\n\t"
                     "stp d4, d5, [%0, 32]\n\t"
                     "stp d6, d7, [%0, 48]"
                     :
                     : "r"(values_out)
                     : "memory");
}
