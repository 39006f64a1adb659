/* SPDX-License-Identifier: MIT */
/*
 * The stack that a thread began with, as far as it can be told from others: of two frames on it, the lower one is
 * inside of the higher one, and gone when that one calls somebody else. Of other stacks nothing is known: coroutines
 * may have theirs anywhere, side by side. System calls the first time; on the calling thread. No libc.
 */
#ifndef GAIT_PROCESS_OWN_STACK_H
#define GAIT_PROCESS_OWN_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroes: not looked for yet. */
struct own_stack {
    bool is_known;
    uint64_t low; /* of what it may grow to; both 0: it is not found */
    uint64_t high;
};

/* Whether both places are on it. */
bool own_stack_has(struct own_stack *stack, uint64_t thread_pointer, uint64_t a, uint64_t b);

/* Whether the place is on it; as far as it is known already. */
bool own_stack_has_one(const struct own_stack *stack, uint64_t place);

/* Whether the thread is on its alternate stack for signals right now, and `inside` is there and `outside` is not. */
bool own_stack_is_signal_stack(uint64_t inside, uint64_t outside);

#endif
