/* SPDX-License-Identifier: MIT */
/* C functions that translated code calls. */
#ifndef GAIT_STALKER_CALLOUT_H
#define GAIT_STALKER_CALLOUT_H

#include "base/address.h"
#include "gait/stalker.h"

#include <stdbool.h>

struct stalker_thread;

/* Lives as long as the block that it is put into. */
struct callout {
    gait_callout function;
    void *data;
    struct app_pc pc; /* where it stands */
    bool is_general_only;
};

/*
 * Calls the function with the thread's registers, which are in its context. From the gate, on the engine's stack.
 * Returns whether the thread goes on elsewhere: then `resume` says where.
 */
bool stalker_callout(struct stalker_thread *thread, const struct callout *callout);

/* Lets the thread go on at context.pc by way of the engine: signals that came during a callout are held until then. */
void stalker_callout_interrupted(struct stalker_thread *thread);

#endif
