/* SPDX-License-Identifier: MIT */
/* The memory that a thread's stack is in. Raw system calls, no locks, no memory: any thread, inside the target. */
#ifndef GAIT_PROCESS_THREAD_STACK_H
#define GAIT_PROCESS_THREAD_STACK_H

#include "base/attributes.h"

#include <stdint.h>

struct thread_stack {
    uint64_t low;
    uint64_t high;
};

/*
 * The mapping that a stack pointer is in: all of a thread's stack, what is above it there (its control block) included.
 * -ENOENT: it is nowhere; what mapping_list_visit gives.
 */
MUST_USE int thread_stack_find(uint64_t sp, struct thread_stack *stack_out);

#endif
