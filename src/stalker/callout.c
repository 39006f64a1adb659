/* SPDX-License-Identifier: MIT */
/*
 * The way from a gate to the user's function. Invariant: context is complete when the function gets it, and all of it,
 * the pc included, is what the thread goes on with.
 */
#include "stalker/callout.h"

#include "stalker/dispatch.h"
#include "stalker/event_write.h"
#include "stalker/thread.h"
#include "stalker/vectors.h"

bool stalker_callout(struct stalker_thread *thread, const struct callout_call *call, bool with_position)
{
    const struct callout *callout = call->callout;

    thread->context.pc = callout->pc.value;
    if (!callout->is_general_only)
        vectors_set_aside(thread);
    callout->function(&thread->context, callout->data);
    if (!callout->is_general_only)
        vectors_put_back(thread);
    if (thread->context.pc != callout->pc.value) {
        /* The rest of the block, which may have been told already, does not run. */
        event_cut_at(thread, call->behind);
        event_write_cut(thread);
        thread->reason = STALKER_ENTER;
        stalker_dispatch(thread);
        return true;
    }
    if (atomic_load_explicit(&thread->requests, memory_order_relaxed) == 0)
        return false;
    stalker_callout_interrupted(thread, call, with_position);
    return true;
}

void stalker_callout_interrupted(struct stalker_thread *thread, const struct callout_call *call, bool with_position)
{
    thread->reason = STALKER_BEHIND;
    thread->behind = (struct callout_behind){.cache_pc = call->behind, .with_position = with_position};
    stalker_dispatch(thread);
}
