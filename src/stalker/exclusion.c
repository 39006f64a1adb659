/* SPDX-License-Identifier: MIT */
/*
 * Excluded ranges, and threads that go in and out of them. A thread in the quiet cache remembers the stack pointer at
 * which it is out again: that of the call, with the return address gone. What excluded code calls may be observed; then
 * the stack pointers of the excluded calls below it are kept, the innermost last.
 */
#include "stalker/exclusion.h"

#include "arch/engine.h"
#include "process/thread_name.h"
#include "stalker/event_buffer.h"
#include "stalker/follow.h"
#include "stalker/invalidate.h"
#include "stalker/stalker_engine.h"
#include "stalker/thread.h"

#include <asm/errno.h>

/* No stack is above this. */
#define QUIET_FOR_EVER (1ull << 62)

static int make_quiet_cache(struct stalker_engine *engine) REQUIRES(engine->lock)
{
    static const struct follow_configuration quiet = {.is_quiet = true};

    return stalker_engine_cache(engine, &quiet, &engine->quiet_cache);
}

/* Where callbacks are observed, code outside of excluded ranges is not translated in the quiet cache. */
static int make_paused_cache(struct stalker_engine *engine) REQUIRES(engine->lock)
{
    struct follow_configuration paused = {.is_quiet = true, .is_paused = engine->options.callbacks_followed};

    return stalker_engine_cache(engine, &paused, &engine->paused_cache);
}

int exclusion_add(struct stalker_engine *engine, uint64_t start, uint64_t end)
{
    int result = 0;

    mutex_lock(&engine->lock);
    if (engine->quiet_cache == NULL)
        result = make_quiet_cache(engine);
    mutex_unlock(&engine->lock);
    if (result != 0)
        return result;
    mutex_lock(&engine->exclusions.lock);
    result = interval_map_insert(&engine->exclusions.ranges, start, end, 0);
    mutex_unlock(&engine->exclusions.lock);
    if (result == 0)
        stalker_invalidate(engine, start, end);
    return result;
}

int exclusion_remove(struct stalker_engine *engine, uint64_t start, uint64_t end)
{
    struct interval range;
    int result = -ENOENT;

    mutex_lock(&engine->exclusions.lock);
    if (interval_map_find(&engine->exclusions.ranges, start, &range) && range.start == start && range.end == end)
        result = interval_map_remove(&engine->exclusions.ranges, start, end);
    mutex_unlock(&engine->exclusions.lock);
    if (result == 0)
        stalker_invalidate(engine, start, end);
    return result;
}

static int make_caches(struct stalker_engine *engine) REQUIRES(engine->lock)
{
    int result = 0;

    if (engine->quiet_cache == NULL)
        result = make_quiet_cache(engine);
    if (result == 0 && engine->paused_cache == NULL)
        result = make_paused_cache(engine);
    return result;
}

/* Makes what inactive threads need, so that set_inactive can do without. */
static int prepare(struct stalker_engine *engine)
{
    int result;

    mutex_lock(&engine->lock);
    result = make_caches(engine);
    mutex_unlock(&engine->lock);
    return result;
}

/* The same as set_active for a thread that does not run, or is the calling one and in the engine. */
static void set_inactive(struct stalker_thread *thread, bool is_inactive)
{
    /* Active again: it is above whatever call was to end that. */
    if (thread->is_inactive && !is_inactive)
        thread->quiet_sp = 0;
    thread->is_inactive = is_inactive;
}

static int set_active(struct stalker_engine *engine, bool is_active) REQUIRES(engine->lock)
{
    struct stalker_thread *thread = stalker_thread_find(engine, stalker_current_tid());
    int result;

    if (thread == NULL)
        return -ESRCH;
    result = make_caches(engine);
    if (result == 0)
        set_inactive(thread, !is_active);
    return result;
}

int exclusion_set_active(struct stalker_engine *engine, bool is_active)
{
    int result;

    mutex_lock(&engine->lock);
    result = set_active(engine, is_active);
    mutex_unlock(&engine->lock);
    return result;
}

bool exclusion_holds(struct stalker_engine *engine, struct app_pc pc)
{
    struct interval range;
    bool holds;

    if (engine->quiet_cache == NULL)
        return false;
    mutex_lock(&engine->exclusions.lock);
    holds = interval_map_find(&engine->exclusions.ranges, pc.value, &range);
    mutex_unlock(&engine->exclusions.lock);
    return holds;
}

bool exclusion_changes_cache(const struct code_cache *cache, struct app_pc pc)
{
    struct stalker_engine *engine = cache->engine;

    if (engine->quiet_cache == NULL || cache->configuration.is_paused)
        return false;
    if (!cache->configuration.is_quiet)
        return exclusion_holds(engine, pc);
    return engine->options.callbacks_followed && !exclusion_holds(engine, pc);
}

/* Of excluded calls that observed code was called from, those that are gone are dropped. */
static void drop_left(struct stalker_thread *thread, uint64_t sp)
{
    while (thread->quiet_depth > 0 && thread->quiet_below[thread->quiet_depth - 1] <= sp)
        thread->quiet_depth--;
}

static void become_quiet(struct stalker_thread *thread, uint64_t sp)
{
    drop_left(thread, sp);
    /* Called from observed code that excluded code had called, or back in that: either way out above the outer one. */
    if (thread->quiet_depth > 0 && thread->quiet_below[thread->quiet_depth - 1] > sp)
        thread->quiet_sp = thread->quiet_below[thread->quiet_depth - 1];
    else
        thread->quiet_sp = sp + thread->engine->machine->registers->call_slot_bytes;
    stalker_thread_use_cache(thread, thread->engine->quiet_cache);
}

static void become_observed(struct stalker_thread *thread, uint64_t sp)
{
    drop_left(thread, sp);
    if (sp < thread->quiet_sp && thread->quiet_depth < QUIET_DEPTH_MAX &&
        (thread->quiet_depth == 0 || thread->quiet_below[thread->quiet_depth - 1] != thread->quiet_sp))
        thread->quiet_below[thread->quiet_depth++] = thread->quiet_sp;
    stalker_thread_use_cache(thread, thread->observed_cache);
}

void exclusion_apply(struct stalker_thread *thread, uint64_t sp)
{
    struct stalker_engine *engine = thread->engine;
    bool is_quiet = thread->cache->configuration.is_quiet;
    bool holds;

    if (engine->quiet_cache == NULL || thread->observed_cache->configuration.is_quiet)
        return;
    holds = exclusion_holds(engine, app_pc_of(thread->context.pc));
    if (thread->is_inactive) {
        stalker_thread_use_cache(thread, engine->paused_cache);
        thread->quiet_sp = QUIET_FOR_EVER;
    } else if (holds && (!is_quiet || thread->cache->configuration.is_paused))
        become_quiet(thread, sp);
    else if (is_quiet && !holds && (sp >= thread->quiet_sp || engine->options.callbacks_followed))
        become_observed(thread, sp);
}

/* ---- threads that are observed ----------------------------------------------------------------------------------- */

/* A thread that is not wanted is inactive, as if it had asked for that itself (exclusion.c). */

int thread_choice_begin(struct stalker_engine *engine, const struct thread_chooser *chooser)
{
    int result = prepare(engine);

    if (result == 0)
        engine->chooser = chooser;
    return result;
}

/* Whoever reads its events is told, and it is chosen or not. */
static void take_name(struct stalker_thread *thread, const char *name)
{
    const struct thread_chooser *chooser = thread->engine->chooser;

    if (thread->events != NULL)
        event_buffer_set_name(thread->events, name);
    if (chooser != NULL)
        set_inactive(thread, !chooser->wants(chooser->context, thread->tid, name));
}

void thread_choice_ask(struct stalker_thread *thread)
{
    char name[THREAD_NAME_BYTES];

    if (thread->engine->chooser == NULL && (thread->events == NULL || thread->events->ring == NULL))
        return;
    if (thread->tid == stalker_current_tid())
        thread_name_own(name);
    else
        thread_name_of(thread->tid, name);
    take_name(thread, name);
}

void thread_choice_named(struct stalker_thread *thread)
{
    char name[THREAD_NAME_BYTES];

    thread_name_own(name);
    take_name(thread, name);
}
