/* SPDX-License-Identifier: MIT */
/* Not until it can be tried. */
#include "arch/thread_landing.h"

#include <asm/errno.h>

size_t thread_landing_vector_bytes(void)
{
    return 0;
}

int thread_landing_prepare(struct thread_landing *landing, struct thread_registers *registers)
{
    (void)landing;
    (void)registers;
    return -EOPNOTSUPP;
}

int thread_landing_prepare_at(struct thread_landing *landing, struct thread_registers *registers,
                              uint64_t landing_address, uint64_t routine_address)
{
    (void)landing;
    (void)registers;
    (void)landing_address;
    (void)routine_address;
    return -EOPNOTSUPP;
}

bool thread_landing_holds(const struct thread_registers *registers)
{
    (void)registers;
    return false;
}
