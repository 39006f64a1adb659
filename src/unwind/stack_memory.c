/* SPDX-License-Identifier: MIT */
#include "unwind/stack_memory.h"

void stack_memory_init(struct stack_memory *memory)
{
    memory->generation = 0;
    memory->count = memory->pointer_count = 0;
    memory->is_whole = false;
    /* No stack pointer is the same. */
    memory->frames[0].sp = UINT64_MAX;
}
