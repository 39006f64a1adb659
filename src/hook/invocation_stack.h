/* SPDX-License-Identifier: MIT */
/*
 * The calls of hooked functions that a thread is in: for each the place of its return address on the program's stack
 * (its slot), what was there, and whose stub has put itself in its place.
 *
 * Mostly a stack, pushed and popped by the gates of stubs in a few instructions. But a call may end without returning,
 * or go on on another thread, and a thread may have several stacks, so one can be removed from the middle: it leaves a
 * hole. Gates may be interrupted by signals anywhere, whose handlers push and pop too; hence a slot is written last
 * when an invocation is pushed, and what is above the top, in the making or a hole has a slot that no stack has, of at
 * least INVOCATION_NO_SLOT. Gates take those for outer calls, so they never keep anybody from pushing.
 *
 * Calls on stacks that the thread has left, for now, are suspended (suspended_calls.h): they stay where they are, below
 * a mark, and nothing is in them. A fence is a mark with a slot, and without a stub: gates go the slow way at or above
 * it.
 *
 * Belongs to its thread; functions here need its signals blocked, unless they say otherwise. No libc.
 */
#ifndef GAIT_HOOK_INVOCATION_STACK_H
#define GAIT_HOOK_INVOCATION_STACK_H

#include "arch/stub_layout.h"
#include "base/attributes.h"
#include "hook/hook_thread_layout.h"

#include <stdbool.h>
#include <stdint.h>

#define INVOCATION_NO_SLOT (1ull << 63)
#define INVOCATION_FIRST   (UINT64_MAX - 1)   /* of what is outside of all */
#define INVOCATION_OUTER   UINT64_MAX         /* of the first of other pieces, and of marks between stacks */
#define INVOCATION_HOLE    INVOCATION_NO_SLOT /* of one that was removed from the middle */
#define INVOCATION_MAKING  (INVOCATION_NO_SLOT + 1)

enum invocation_flag {
    INVOCATION_RESTORED = 1, /* an unwinder is at work: the original return address is back in the slot */
    INVOCATION_UNWINDER = 2, /* of an unwinder, whose return address is its own and was left alone */
    INVOCATION_SUSPENDED = 4 /* the thread is on another stack; above INVOCATION_STACK_SHIFT is the number of its own */
};

#define INVOCATION_STACK_SHIFT 16

struct invocation {
    _Atomic uint64_t slot;
    uint64_t return_address; /* the caller's; or the landing of another stub, of a function that jumped to this one */
    uint64_t stub;           /* where its call of the entering gate returns to */
    void *data;              /* of listeners */
    uint32_t depth;
    uint32_t flags; /* enum invocation_flag */
};

struct invocation_piece;

/* As the gates know it. */
struct invocation_stack {
    struct invocation *top;
    struct invocation *limit;
    struct invocation_piece *piece; /* where the top is */
    struct invocation *full;        /* `limit`, but where that is NULL because there is a floor */
    uint64_t floor;                 /* what is pushed with a slot at or below it goes the slow way; 0: there is none */
};

/* -ENOMEM. */
MUST_USE int invocation_stack_init(struct invocation_stack *stack);
void invocation_stack_deinit(struct invocation_stack *stack);

/* Forgets all. */
void invocation_stack_clear(struct invocation_stack *stack);

/* Pushes a call that is in the innermost one. NULL: no memory. */
struct invocation *invocation_stack_push(struct invocation_stack *stack, uint64_t slot, uint64_t return_address,
                                         uint64_t stub);

/* Pushes a mark, so that what comes is on another stack than what is there. False: no memory. */
MUST_USE bool invocation_stack_mark(struct invocation_stack *stack);

/* Pushes a fence: a mark at which gates with that slot, or a higher one, go the slow way. False: no memory. */
MUST_USE bool invocation_stack_fence(struct invocation_stack *stack, uint64_t slot);

/* Pushes one that is somewhere below, so that it is the innermost one. NULL: no memory, and it stays there. */
struct invocation *invocation_stack_raise(struct invocation_stack *stack, struct invocation *invocation);

/* Moves those that are suspended down to where there are holes, and trims. */
void invocation_stack_sink(struct invocation_stack *stack);

/* Has gates that push with slots at or below `floor` go the slow way; 0: none for that reason. */
void invocation_stack_watch(struct invocation_stack *stack, uint64_t floor);

/* How deep what is pushed next is. */
uint32_t invocation_stack_next_depth(const struct invocation_stack *stack);

/* Removes one, from wherever it is. */
void invocation_stack_remove(struct invocation_stack *stack, struct invocation *invocation);

/* Drops holes and marks that nothing is above of; but for a mark above one that is suspended. */
void invocation_stack_trim(struct invocation_stack *stack);

/* From the innermost to the outermost; others than the thread may look, too, while pieces are not given back. */
struct invocation_cursor {
    const struct invocation_piece *piece;
    struct invocation *invocation;
};

void invocation_cursor_begin(struct invocation_cursor *cursor, const struct invocation_stack *stack);

/* The next one that is a call. NULL: there are no more. */
struct invocation *invocation_cursor_next(struct invocation_cursor *cursor);

/* Shows all calls from the outermost on. */
void invocation_stack_visit(const struct invocation_stack *stack,
                            void (*visit)(void *context, const struct invocation *invocation), void *context);

/* The same without those that are suspended. */
struct invocation *invocation_cursor_next_active(struct invocation_cursor *cursor);

/* The innermost one with that slot, and of that stub unless it is 0. Signal-safe. NULL: there is none. */
struct invocation *invocation_stack_find(const struct invocation_stack *stack, uint64_t slot, uint64_t stub);

/* One that was popped, and whose memory was not used since: of a call that returns once more. */
struct invocation *invocation_stack_find_popped(const struct invocation_stack *stack, uint64_t slot, uint64_t stub);

/* Takes one that is another thread's, whose call has come here. False: somebody else did. */
MUST_USE bool invocation_take(struct invocation *invocation, uint64_t slot);

/* Where its function returns to, if its return address was replaced. */
static inline uint64_t invocation_landing(const struct invocation *invocation)
{
    return invocation->stub + STUB_LANDING;
}

/* Whether the figures agree. */
bool invocation_stack_check(const struct invocation_stack *stack);

#endif
