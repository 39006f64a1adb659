/* SPDX-License-Identifier: MIT */
/* What threads that take stacks have, and what all of them share: the modules. */
#ifndef GAIT_LIBGAIT_STACK_THREAD_H
#define GAIT_LIBGAIT_STACK_THREAD_H

#include "unwind/stack_walk.h"

struct stack_thread {
    struct stack_walker walker;
    int tid;
};

/* These stand for no thread, and are all below STACK_THREAD_STATES. */
#define STACK_THREAD_NONE   ((struct stack_thread *)0)
#define STACK_THREAD_BUSY   ((struct stack_thread *)1) /* it is being made */
#define STACK_THREAD_ENDED  ((struct stack_thread *)2)
#define STACK_THREAD_STATES ((struct stack_thread *)3)

/* The calling thread's, or one of the above. No call, no lock: fit for signal handlers. */
extern __thread struct stack_thread *stack_thread_current __attribute__((tls_model("initial-exec")));

extern struct unwind_modules stack_modules;

/* Makes the calling thread's, if it has none. Errors as of gait_stack_prepare. */
MUST_USE int stack_thread_begin(void);

/* Has the modules found again. */
MUST_USE int stack_thread_refresh(void);

/*
 * A walk came by code that no module has. True: modules were looked for again, so it is worth another try. Fit for
 * signal handlers.
 */
bool stack_thread_found_unknown(struct stack_thread *thread);

#endif
