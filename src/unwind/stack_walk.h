/* SPDX-License-Identifier: MIT */
/*
 * The call stack of a thread as return addresses, the innermost first. No lock, no memory but the caller's; a system
 * call only when the thread is on a stack that was not seen before. Callable in signal handlers and inside the target.
 */
#ifndef GAIT_UNWIND_STACK_WALK_H
#define GAIT_UNWIND_STACK_WALK_H

#include "unwind/full_unwind.h"
#include "unwind/unwind_modules.h"

/* Frames that are remembered; deeper stacks are walked each time. */
#define STACK_MEMORY_FRAMES 254u

struct stack_bounds {
    uint64_t low;
    uint64_t high;
};

/* Where a walk is. */
struct stack_frame {
    uint64_t pc;
    uint64_t sp;
    uint64_t fp;
    uint64_t fp_place; /* where the frame pointer was read from; if it was not: where the pc was */
    uint64_t fp_value; /* what was there */
    uint32_t rule;     /* by which it is undone */
};

/*
 * The walk before: what was read from the stack, and where, the outermost frame first. As long as that is still there,
 * the frames are the same.
 */
struct stack_memory {
    uint64_t generation; /* of the modules */
    struct stack_bounds bounds;
    uint32_t count; /* 0 also while it is changed */
    uint64_t pc[STACK_MEMORY_FRAMES];
    uint64_t sp[STACK_MEMORY_FRAMES]; /* the pc was in the word below */
    uint64_t fp[STACK_MEMORY_FRAMES];
    uint64_t fp_mask[STACK_MEMORY_FRAMES];  /* 0: no frame farther out depends on it: it may be anything */
    uint64_t fp_place[STACK_MEMORY_FRAMES]; /* as in struct stack_frame */
    uint64_t fp_value[STACK_MEMORY_FRAMES];
    uint32_t rule[STACK_MEMORY_FRAMES];
    struct stack_frame new_frames[STACK_MEMORY_FRAMES]; /* while a walk is under way: those that are not in it yet */
};

/* What a thread that walks its stack has. Zeroes at first. */
struct stack_walker {
    struct unwind_reader reader;
    struct stack_bounds bounds; /* of the stack that it was on */
    struct stack_memory memory;
};

/* From where. */
struct stack_start {
    const struct unwind_registers *registers; /* pc, stack and frame pointer must be known */
    bool is_behind_call;                      /* the pc is a return address, not that of an instruction that runs */
};

/*
 * Fills in the pc and return addresses, at most that many; returns how many. The thread is the calling one, or stopped.
 * It ends early where nothing is known of some code and no frame pointer leads on. In a signal handler that interrupts
 * a walk of the same thread it works, too.
 */
size_t stack_walk(struct unwind_modules *modules, struct stack_walker *walker, const struct stack_start *start,
                  uint64_t *pcs_out, size_t capacity);

#endif
