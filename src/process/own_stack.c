/* SPDX-License-Identifier: MIT */
/*
 * A thread made by a C library has its thread pointer above its stack, in the same mapping; what is above that is
 * something else. The first thread, whose thread pointer may be next to anything, has what the kernel calls the stack,
 * which grows: nothing is mapped near below it.
 */
#include "process/own_stack.h"

#include "base/raw_syscall.h"
#include "process/mapping_list.h"

#include <asm/signal.h>
#include <asm/unistd.h>
#include <stddef.h>

/* The kernel keeps at least that much below the first thread's stack free. */
#define GROWTH_BYTES (128ull << 20)

struct search {
    uint64_t place;
    uint64_t thread_pointer;
    bool is_first_thread;
    struct own_stack *found;
};

static bool is_first_stack(const struct mapping *mapping)
{
    static const char name[] = "[stack]";

    if (mapping->path_length != sizeof(name) - 1)
        return false;
    for (size_t i = 0; i < mapping->path_length; i++)
        if (mapping->path[i] != name[i])
            return false;
    return true;
}

/* Or the only one of a forked child, of whose stack less is known then. */
static bool is_first_thread(void)
{
    return raw_syscall(__NR_gettid, 0, 0, 0, 0, 0, 0) == raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0);
}

static void look_at(void *context, const struct mapping *mapping)
{
    const struct search *search = context;

    if (search->place < mapping->start || search->place >= mapping->end)
        return;
    if (!search->is_first_thread && search->thread_pointer > search->place && search->thread_pointer < mapping->end) {
        search->found->low = mapping->start;
        search->found->high = search->thread_pointer;
    } else if (is_first_stack(mapping)) {
        search->found->low = mapping->end - GROWTH_BYTES;
        search->found->high = mapping->end;
    }
}

bool own_stack_has_one(const struct own_stack *stack, uint64_t place)
{
    return place >= stack->low && place < stack->high;
}

bool own_stack_has(struct own_stack *stack, uint64_t thread_pointer, uint64_t a, uint64_t b)
{
    if (!stack->is_known) {
        struct search search = {a, thread_pointer, is_first_thread(), stack};

        /* A coroutine may be what is looked at first: then others are tried later. Without /proc all are others. */
        stack->is_known = mapping_list_visit(a, a + 1, look_at, &search) != 0 || stack->high != 0;
    }
    return own_stack_has_one(stack, a) && own_stack_has_one(stack, b);
}

bool own_stack_is_signal_stack(uint64_t inside, uint64_t outside)
{
    stack_t signal_stack = {0};
    uint64_t low;

    if (raw_syscall(__NR_sigaltstack, 0, (long)&signal_stack, 0, 0, 0, 0) != 0)
        return false;
    low = (uintptr_t)signal_stack.ss_sp;
    return signal_stack.ss_size != 0 && inside - low < signal_stack.ss_size && outside - low >= signal_stack.ss_size;
}
