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

/* What translated code leaves where the engine's stack begins. */
struct callout_call {
    uint64_t behind; /* where it goes on in the block */
    const struct callout *callout;
};

/*
 * Calls the function with the thread's registers, which are in its context. From the gate, on the engine's stack.
 * with_position: where the block goes on, the position of events is in its register.
 * Returns whether the thread goes on by way of `resume`.
 */
bool stalker_callout(struct stalker_thread *thread, const struct callout_call *call, bool with_position);

/* Lets the thread go on behind the callout by way of the engine: signals that came during it are held until then. */
void stalker_callout_interrupted(struct stalker_thread *thread, const struct callout_call *call, bool with_position);

#endif
