/* SPDX-License-Identifier: MIT */
#include "process/thread_stack.h"

#include "process/mapping_list.h"

#include <asm/errno.h>

static void take_mapping(void *context, const struct mapping *mapping)
{
    *(struct thread_stack *)context = (struct thread_stack){mapping->start, mapping->end};
}

int thread_stack_find(uint64_t sp, struct thread_stack *stack_out)
{
    struct thread_stack stack = {0, 0};
    /* One that is empty points right behind it. */
    int result = sp == 0 ? -ENOENT : mapping_list_visit(sp, sp + 1, take_mapping, &stack);

    if (result == 0 && stack.high == 0)
        result = mapping_list_visit(sp - 1, sp, take_mapping, &stack);
    if (result == 0 && stack.high == 0)
        result = -ENOENT;
    if (result == 0)
        *stack_out = stack;
    return result;
}
