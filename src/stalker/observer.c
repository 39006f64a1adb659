/* SPDX-License-Identifier: MIT */
/*
 * The observer is the user's code: before it runs, on a followed thread, vector registers are set aside, once for each
 * time in the engine.
 */
#include "stalker/observer.h"

#include "stalker/thread.h"
#include "stalker/vectors.h"

void observer_set(struct stalker_engine *engine, const struct gait_observer *observer)
{
    /* Release: pairs with the acquire in observer_of. */
    atomic_store_explicit(&engine->observer, observer, memory_order_release);
}

static const struct gait_observer *observer_of(const struct stalker_engine *engine)
{
    return atomic_load_explicit(&engine->observer, memory_order_acquire);
}

static enum gait_entry entry_of(const struct stalker_thread *thread)
{
    static const uint8_t of_exits[] = {
        [BLOCK_EXIT_JUMP] = GAIT_ENTRY_BRANCH,
        [BLOCK_EXIT_ADJACENT] = GAIT_ENTRY_BRANCH,
        [BLOCK_EXIT_SYSTEM_CALL] = GAIT_ENTRY_SYSTEM_CALL,
        [BLOCK_EXIT_NATIVE_RETURN] = GAIT_ENTRY_NATIVE_RETURN,
        [BLOCK_EXIT_CHANGE_CACHE] = GAIT_ENTRY_EXCLUSION,
        [BLOCK_EXIT_LEAVE] = GAIT_ENTRY_LEAVE,
        [BLOCK_EXIT_NO_CODE] = GAIT_ENTRY_LEAVE,
    };

    switch ((enum stalker_reason)thread->reason) {
    case STALKER_EXIT:
        return of_exits[code_cache_exit(thread->cache, thread->exit)->kind];
    case STALKER_INDIRECT:
        return GAIT_ENTRY_INDIRECT;
    case STALKER_EVENTS:
        return GAIT_ENTRY_EVENTS;
    case STALKER_CHANGED:
        return GAIT_ENTRY_CHANGED;
    case STALKER_QUIET_END:
        return GAIT_ENTRY_EXCLUSION;
    case STALKER_CALLED:
        return GAIT_ENTRY_SYSTEM_CALL;
    default:
        return GAIT_ENTRY_BEGIN;
    }
}

void observer_entered(struct stalker_thread *thread)
{
    const struct gait_observer *observer = observer_of(thread->engine);

    if (observer == NULL)
        return;
    /* For the other functions, too: they are called on the way. */
    vectors_set_aside(thread);
    if (observer->entered != NULL)
        observer->entered(observer->context, entry_of(thread), (uint32_t)thread->tid);
}

void observer_translated(const struct code_cache *cache, const struct block *block)
{
    const struct gait_observer *observer = observer_of(cache->engine);

    if (observer != NULL && observer->translated != NULL)
        observer->translated(observer->context, block->start.value, block_end(block).value);
}

void observer_linked(const struct code_cache *cache, struct block_exit *exit, const struct block *to)
{
    const struct gait_observer *observer = observer_of(cache->engine);

    if (observer != NULL && observer->linked != NULL)
        observer->linked(observer->context, block_of_exit(exit)->start.value, to->start.value);
}
