/* SPDX-License-Identifier: MIT */
/*
 * The way from a gate to the user's function. Invariant: context is complete when the function gets it, and all of it,
 * the pc included, is what the thread goes on with.
 */
#include "stalker/callout.h"

#include "stalker/code_cache.h"
#include "stalker/code_place.h"
#include "stalker/dispatch.h"
#include "stalker/event_buffer.h"
#include "stalker/thread.h"
#include "stalker/trail.h"
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

/* ---- callouts that were made ------------------------------------------------------------------------------------- */

/*
 * A few entries for each thread, known by the address of the frame. Those of handlers that never return are overwritten
 * by the next frame at their place, or by others when there is no room.
 */

static struct callout_done *find(struct stalker_thread *thread, uint64_t frame)
{
    for (unsigned i = 0; i < CALLOUTS_DONE_MAX; i++)
        if (thread->callouts_done[i].frame == frame)
            return &thread->callouts_done[i];
    return NULL;
}

/* Where an entry for the frame goes: stacks grow down, so that of the highest frame is the outermost. */
static struct callout_done *place_for(struct stalker_thread *thread, uint64_t frame)
{
    struct callout_done *place = find(thread, frame);

    if (place == NULL)
        place = find(thread, 0);
    if (place != NULL)
        return place;
    place = &thread->callouts_done[0];
    for (unsigned i = 1; i < CALLOUTS_DONE_MAX; i++)
        if (thread->callouts_done[i].frame > place->frame)
            place = &thread->callouts_done[i];
    return place;
}

bool callout_done_leave(struct stalker_thread *thread)
{
    struct callout_behind *behind = &thread->behind;
    struct code_place code;

    if (behind->cache_pc == 0 || !code_cache_place_at(thread->cache, cache_pc_of(behind->cache_pc), &code))
        return false;
    behind->block = code.block;
    behind->cache = thread->cache;
    behind->done = trail_callouts_done_at(&code, cache_pc_of(behind->cache_pc));
    return true;
}

void callout_done_keep(struct stalker_thread *thread, uint64_t frame, uint64_t pc)
{
    struct callout_done *place;

    if (!callout_done_leave(thread)) {
        place = find(thread, frame);
        if (place != NULL)
            *place = (struct callout_done){0};
        return;
    }
    place = place_for(thread, frame);
    *place = (struct callout_done){.frame = frame, .pc = pc, .behind = thread->behind};
}

bool callout_done_take(struct stalker_thread *thread, uint64_t frame, uint64_t pc)
{
    struct callout_done *place = find(thread, frame), done;

    if (place == NULL)
        return false;
    done = *place;
    *place = (struct callout_done){0};
    if (done.pc != pc)
        return false;
    thread->behind = done.behind;
    return true;
}

bool callout_done_is_valid(struct stalker_thread *thread)
{
    const struct callout_behind *behind = &thread->behind;
    bool is_valid;

    if (behind->block == NULL)
        return true;
    if (behind->cache != thread->cache)
        return false;
    mutex_lock(&thread->cache->lock);
    is_valid = !behind->block->is_retired;
    mutex_unlock(&thread->cache->lock);
    return is_valid;
}
