/* SPDX-License-Identifier: MIT */
/* Few processes are elsewhere, so the list is short; a process that is not in it is where we are. */
#include "record/thread_numbers.h"

#include "hosted/growing_array.h"
#include "inject/pid_namespace.h"

#include <stdbool.h>
#include <stdlib.h>

static void add(struct thread_numbers *numbers, pid_t pid, uint32_t inner, uint32_t outer)
{
    if (ARRAY_RESERVE_NEXT(numbers->numbers, numbers->count) == 0)
        numbers->numbers[numbers->count++] = (struct thread_number){pid, inner, outer};
}

void thread_numbers_add_process(struct thread_numbers *numbers, pid_t pid)
{
    if (!pid_namespace_is_ours(pid))
        add(numbers, pid, (uint32_t)pid_namespace_inner_tid(pid, pid), (uint32_t)pid);
}

uint32_t thread_numbers_outer(struct thread_numbers *numbers, pid_t pid, uint32_t inner)
{
    bool is_elsewhere = false;
    pid_t outer;

    for (size_t i = 0; i < numbers->count; i++) {
        const struct thread_number *number = &numbers->numbers[i];

        if (number->pid == pid && number->inner == inner)
            return number->outer;
        is_elsewhere |= number->pid == pid;
    }
    outer = is_elsewhere ? pid_namespace_outer_tid(pid, (pid_t)inner) : 0;
    if (outer == 0)
        return inner;
    add(numbers, pid, inner, (uint32_t)outer);
    return (uint32_t)outer;
}

void thread_numbers_deinit(struct thread_numbers *numbers)
{
    free(numbers->numbers);
    *numbers = (struct thread_numbers){.count = 0};
}
