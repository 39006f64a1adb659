/* SPDX-License-Identifier: MIT */
/*
 * Call stacks of the calling thread, cheap enough to take one whenever something interesting happens: some 60 ns for
 * twenty frames, with or without frame pointers. They are raw return addresses; names are found later, by the
 * reader.
 *
 *   uint64_t pcs[64];
 *   struct gait_stack stack = {.size_bytes = sizeof(stack), .pcs = pcs, .capacity = 64};
 *
 *   if (gait_stack_capture(&stack) == 0)
 *       keep(stack.time, stack.tid, pcs, stack.count);
 *
 * How frames are undone is taken from the .eh_frame of all modules, when the first stack is taken; code that has none
 * must keep frame pointers, else a stack ends there. Frames of signal handlers are undone, too.
 */
#ifndef GAIT_STACK_H
#define GAIT_STACK_H

#include "gait/cpu_context.h"
#include "gait/error.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gait_stack {
    size_t size_bytes; /* in: sizeof(struct gait_stack) */
    uint64_t *pcs;     /* in: room for that many addresses; the caller's */
    size_t capacity;
    /* Out. The first address is where the caller goes on; a stack that has more frames than room is cut off. */
    size_t count;
    uint64_t time; /* of the CPU's counter, at the beginning; see gait/clock.h */
    int tid;
};

/*
 * Takes the stack of the caller.
 *
 * A thread's first call takes a lock, maps some 60 KiB of memory, which are given back when the thread ends, and needs
 * some 6 KiB of stack. All others wait for no lock and need 1.5 KiB of stack, or 3 to undo frames of unusual kinds;
 * they are callable anywhere, also in signal handlers, on alternate stacks, and on those of coroutines, of any size.
 * They make no system call on the thread's own stack. On others they make one for each page of stack that they look at,
 * and are slower.
 *
 * Modules that were loaded since are noticed when a stack leads through them: the call then looks for new modules, for
 * some milliseconds, at most ten times a second, and only if it is on the thread's own stack with some room left.
 *
 * -EINVAL: size_bytes is not set, or there is no room; -ENOMEM; -ENOSYS: not for this CPU; -EBUSY: in a signal handler
 * that interrupts the thread's first call; -ESRCH: the thread is about to end: it has no stacks any more. Nothing is
 * filled in then.
 */
int gait_stack_capture(struct gait_stack *stack);

/*
 * Does what a thread's first capture would: for threads that take their first one in a signal handler, or on a small
 * stack. More than once is fine. Errors as above. Not in signal handlers.
 */
int gait_stack_prepare(void);

/*
 * The same from where registers say that the calling thread was: for callouts, probes and listeners of hooks, which run
 * on stacks of their own, and for handlers of breakpoints. The first address is the pc. -EINVAL: also if cpu is NULL.
 */
int gait_stack_capture_from(const struct gait_cpu_context *cpu, struct gait_stack *stack);

/*
 * Watches the dynamic loader from now on, so that stacks are right as soon as something is loaded in the place of
 * something else: a program that unloads libraries calls this once, in the beginning. For that the function that
 * loaders have for debuggers is hooked (gait/hook.h), for good. To load and unload a library takes some 0.2 ms longer
 * then, and as long as it takes to read its .eh_frame: milliseconds for a large one. More than once is fine. Not in
 * signal handlers.
 *
 * -ENOENT: there is no dynamic loader, or it does not say; what gait_hook_attach gives. Then, and without this,
 * gait_stack_modules_changed is for that.
 */
int gait_stack_watch_modules(struct gait_error *err);

/*
 * Says that modules were unloaded, or others loaded in their place, where no watcher reports that. Until then stacks
 * that lead through what is there now may be wrong, though never more than that. Takes a lock, for milliseconds.
 * -ENOMEM and others: nothing changed. Not in signal handlers.
 */
int gait_stack_modules_changed(void);

#ifdef __cplusplus
}
#endif

#endif
