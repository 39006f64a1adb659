/* SPDX-License-Identifier: MIT */
/*
 * The call stack of a thread as return addresses, the innermost first. No lock, no memory but the caller's, hundreds of
 * bytes of stack; no system call on the thread's own stack, except when that has grown. Callable in signal handlers and
 * inside the target.
 */
#ifndef GAIT_UNWIND_STACK_WALK_H
#define GAIT_UNWIND_STACK_WALK_H

#include "unwind/full_unwind.h"
#include "unwind/stack_memory.h"
#include "unwind/unwind_modules.h"

/* How many walks of a thread, one in a signal handler that interrupts the other, can undo frames of all kinds. */
#define STACK_WALKS_MAX 2u

struct stack_bounds {
    uint64_t low;
    uint64_t high;
};

/* What a thread that walks its stack has. */
struct stack_walker {
    struct unwind_reader reader;
    struct stack_bounds own; /* the thread's own stack, which is there as long as the thread is */
    bool may_grow;           /* downwards */
    unsigned depth;          /* of walks under way */
    uint64_t frame;          /* of the outermost of them */
    uint64_t unknown_pc;     /* in code that no module has, where a walk came by lately; 0: none */
    struct stack_memory memory;
    struct full_unwind_storage storage[STACK_WALKS_MAX];
};

/* From where. */
struct stack_start {
    uint64_t pc;
    uint64_t sp;
    uint64_t fp;
    bool is_behind_call;                      /* the pc is a return address, not that of an instruction that runs */
    const struct unwind_registers *registers; /* all that are known, those three too; NULL: no others */
};

/* Where it goes to. */
struct stack_addresses {
    uint64_t *pcs;
    size_t capacity;
    size_t count; /* out */
};

/*
 * For the thread whose stack pointer and thread pointer these are. Reads the list of mappings, to know its own stack;
 * without /proc it works all the same, only slower. The reader is added by the caller.
 */
void stack_walker_init(struct stack_walker *walker, uint64_t sp, uint64_t thread_pointer, bool is_main_thread);

/*
 * Fills in the pc and return addresses. The thread is the calling one, or stopped. It ends early where nothing is known
 * of some code and no frame pointer leads on. In a signal handler that interrupts a walk of the same thread it works,
 * too. -ENODATA: registers are needed that were not given; what comes before is there.
 */
MUST_USE int stack_walk(struct unwind_modules *modules, struct stack_walker *walker, const struct stack_start *start,
                        struct stack_addresses *addresses);

#endif
