/* SPDX-License-Identifier: MIT */
/*
 * What a thread that left the cache needs: the block for its next address, translated if need be, and a link so that it
 * need not come again for that; or a system call, or the way out. Every path ends with `resume` set.
 */
#include "stalker/dispatch.h"
#include "stalker/call_telling.h"

#include "arch/engine.h"
#include "base/counters.h"
#include "stalker/block_link.h"
#include "stalker/callout.h"
#include "stalker/code_place.h"
#include "stalker/errand.h"
#include "stalker/event_buffer.h"
#include "stalker/follow.h"
#include "stalker/follow_other.h"
#include "stalker/invalidate.h"
#include "stalker/reclaim.h"
#include "stalker/signal_virtualize.h"
#include "stalker/stalker_engine.h"
#include "stalker/stalker_gate.h"
#include "stalker/system_call.h"
#include "stalker/thread.h"
#include "stalker/trail.h"
#include "stalker/unit.h"
#include "stalker/vectors.h"

/* The gates know these. */
_Static_assert(offsetof(struct hash_map, table) == 0, "the map's table has moved");
_Static_assert(offsetof(struct hash_map_table, mask) == 0, "the table's mask has moved");
_Static_assert(offsetof(struct hash_map_table, shift) == 8, "the table's shift has moved");
_Static_assert(offsetof(struct hash_map_table, slots) == 64, "the table's slots have moved");
_Static_assert(sizeof(struct hash_map_slot) == 16, "a slot has another size");
_Static_assert(offsetof(struct block, entry) == 0, "the block's entry has moved");
_Static_assert(offsetof(struct block, landing) == 16 && sizeof(((struct block *)NULL)->landing) == 4,
               "the block's landing has moved");

/*
 * Targets whose addresses end alike share a place in the table. The one that was translated last need not be the one
 * that is wanted most, so it is theirs in turn: whoever comes by often gets it soon, and keeps it as long.
 */
static void renew_place(struct code_cache *cache, const struct block *block) REQUIRES(cache->lock)
{
    code_cache_announce(cache, block);
    counter_add(COUNTER_indirect_places_renewed, 1);
}

/* The block for an address, translated if need be; NULL: it cannot be. */
static struct block *obtain(struct stalker_thread *thread, struct code_cache *cache, struct app_pc pc, bool lands)
    REQUIRES(cache->lock)
{
    struct block *block = code_cache_find(cache, pc);

    if (block != NULL && !block_is_trusted(cache, block)) {
        block_retire(cache, block);
        block = NULL;
    }
    if (block == NULL && cache->configuration.transformer != NULL)
        vectors_set_aside(thread);
    if (block == NULL)
        return unit_translate(cache, pc, lands && cache->engine->options.trust <= 0, &block) == 0 ? block : NULL;
    if (lands && block_has_landing(block))
        renew_place(cache, block);
    /* Without a landing it is found all the same, by way of the engine. */
    else if (lands && block_may_link(cache, block) && unit_add_landing(cache, block) != 0)
        counter_add(COUNTER_landings_missing, 1);
    return block;
}

/* Adds an event for each block that was translated since there were `count` of them. Without a lock. */
static void tell_compiled(struct stalker_thread *thread, const struct code_cache *cache, uint32_t count)
{
    if (!(cache->configuration.events & GAIT_EVENT_COMPILE) || thread->events == NULL)
        return;
    for (; count < thread->compiled_end; count++) {
        if (code_cache_block(cache, count)->is_quiet)
            continue;
        if (thread->event_position >= thread->event_limit)
            stalker_drain_events(thread, EVENT_PLACE_BETWEEN_BLOCKS);
        event_write(thread, count, EVENT_RECORD_COMPILED);
    }
}

/* Whether its blocks write records of themselves. */
static bool tells_blocks(const struct code_cache *cache)
{
    return cache->configuration.events & (GAIT_EVENT_BLOCK | GAIT_EVENT_EXEC);
}

/* For good, from context.pc on. Nobody is to wonder why there are no more events: it is told. */
static void give_up(struct stalker_thread *thread, enum ring_left_reason reason)
{
    thread_left_tell(thread, reason);
    stalker_leave_natively(thread);
}

/*
 * The CPU finds out what is wrong, at the original address, and our handler takes the thread on from there. Code that
 * is only not known to be there would run on, behind our back.
 */
static void try_natively(struct stalker_thread *thread)
{
    if (code_source_is_blind(&thread->engine->source)) {
        give_up(thread, RING_LEFT_BLIND);
        return;
    }
    if (code_source_is_unreadable(&thread->engine->source, app_pc_of(thread->context.pc))) {
        give_up(thread, RING_LEFT_UNREADABLE);
        return;
    }
    thread->resume = thread->context.pc;
    thread->is_trying = true;
    thread->enter_once = true;
}

/* Goes on at context.pc, to which `exit`, if there is one, is linked. */
static void go_by(struct stalker_thread *thread, struct block_exit *exit, bool lands)
{
    struct code_cache *cache = thread->cache;
    struct block *block;
    uint32_t count;

    mutex_lock(&cache->lock);
    count = cache->block_count;
    block = obtain(thread, cache, app_pc_of(thread->context.pc), lands);
    if (block != NULL && exit != NULL)
        block_link(cache, exit, block);
    thread->compiled_end = cache->block_count;
    mutex_unlock(&cache->lock);
    tell_compiled(thread, cache, count);
    if (block != NULL)
        thread->resume = block->entry.value;
    else if (code_source_bytes(&cache->engine->source, app_pc_of(thread->context.pc), NULL) == 0)
        try_natively(thread);
    else
        give_up(thread, RING_LEFT_MEMORY);
}

/* Goes on at context.pc, in the cache that is right there. */
static void go_on(struct stalker_thread *thread, bool lands)
{
    exclusion_apply(thread, gait_cpu_stack_pointer(&thread->context));
    go_by(thread, NULL, lands);
}

/* The thread makes its system call where a child of it can begin, and then comes back. */
static void call_in_place(struct stalker_thread *thread)
{
    const struct engine *machine = thread->engine->machine;
    struct cache_pc piece;

    if (call_piece_obtain(thread->engine, machine->registers->system_call_next(&thread->context), thread->thread_base,
                          &piece) != 0) {
        give_up(thread, RING_LEFT_MEMORY);
        return;
    }
    /* There the position of events is not in its register. */
    thread->native_return = machine->registers->system_call_next(&thread->context).value;
    thread->resume = piece.value;
    thread->enter_once = true;
    thread->is_in_piece = true;
}

/* Behind the branch to the engine the call is made in the block. */
static void make_system_call(struct stalker_thread *thread, const struct block_exit *exit,
                             enum system_call_outcome outcome)
{
    switch (outcome) {
    case SYSTEM_CALL_DONE:
        go_on(thread, false);
        break;
    case SYSTEM_CALL_IN_PLACE:
        call_in_place(thread);
        break;
    case SYSTEM_CALL_IN_CACHE:
        thread->resume = block_exit_place(exit).value + thread->engine->machine->emit->branch_bytes;
        break;
    default:
        stalker_leave_natively(thread);
        break;
    }
}

/* A program was not executed, or a process that shared our memory does so no more. */
static void end_announced(struct stalker_thread *thread)
{
    const struct process_watcher *watcher = thread->engine->processes;

    if (!thread->is_announced)
        return;
    thread->is_announced = false;
    watcher->call_ended(watcher->context, thread);
}

static void handle_exit(struct stalker_thread *thread, struct block_exit *exit)
{
    thread->context.pc = block_exit_target(exit).value;
    switch (exit->kind) {
    case BLOCK_EXIT_SYSTEM_CALL:
        make_system_call(thread, exit, system_call_make(thread));
        break;
    case BLOCK_EXIT_FOREIGN_CALL:
        make_system_call(thread, exit, system_call_make_foreign(thread));
        break;
    case BLOCK_EXIT_CHANGE_CACHE:
        go_on(thread, false);
        break;
    case BLOCK_EXIT_LEAVE:
        give_up(thread, RING_LEFT_INSTRUCTION);
        break;
    case BLOCK_EXIT_NO_CODE:
        try_natively(thread);
        break;
    case BLOCK_EXIT_NATIVE_RETURN:
        thread->context.pc = thread->native_return;
        go_on(thread, false);
        break;
    default:
        go_by(thread, exit, false);
        break;
    }
}

/* The buffer is full: its events go where they are wanted, and the thread goes on where it was. */
void stalker_drain_events(struct stalker_thread *thread, enum event_place place)
{
    struct event_buffer *events = thread->events;

    /* A receiver that wants more gets it afterwards. */
    if (events->is_draining)
        return;
    if (events->decoder.receiver.process != NULL)
        vectors_set_aside(thread);
    stalker_read_events(thread, place);
}

/* The block is forgotten, and what stands at its start now is translated. */
static void renew(struct stalker_thread *thread)
{
    struct code_cache *cache = thread->cache;
    struct block *block = code_cache_block(cache, thread->exit / BLOCK_EXIT_COUNT);

    mutex_lock(&cache->lock);
    block_retire(cache, block);
    mutex_unlock(&cache->lock);
    thread->context.pc = block->start.value;
    go_on(thread, block_has_landing(block));
}

/* The same place in another block, which begins at context.pc. What the block would have told until then is told here.
 */
static void go_behind_in_new_block(struct stalker_thread *thread)
{
    struct code_place place;
    bool is_told;

    thread->reason = STALKER_ENTER;
    go_by(thread, NULL, false);
    if (thread->behind.done == 0 || !code_cache_place_at(thread->cache, cache_pc_of(thread->resume), &place) ||
        !trail_find_behind(thread->cache, &place, &thread->behind, &is_told))
        return;
    thread->reason = STALKER_BEHIND;
    thread->behind.block = NULL;
    thread->resume = thread->behind.cache_pc;
    thread->enter_once = !thread->behind.with_position;
    if (is_told && thread->events != NULL && tells_blocks(thread->cache))
        event_write(thread, place.block->index, EVENT_RECORD_BLOCK);
}

/* Of a thread that goes on behind callouts: whether it has been elsewhere since they were made. */
static bool was_away(const struct stalker_thread *thread)
{
    return thread->reason == STALKER_BEHIND && thread->behind.block != NULL;
}

/*
 * Back to behind the callouts at context.pc. Of a block that a thread has left, and that was told, it was said how far
 * it ran; so it cannot go on in that.
 */
static void go_behind(struct stalker_thread *thread)
{
    bool is_told = was_away(thread) && tells_blocks(thread->cache);

    exclusion_apply(thread, gait_cpu_stack_pointer(&thread->context));
    if (!callout_done_is_valid(thread) || is_told) {
        go_behind_in_new_block(thread);
        return;
    }
    thread->resume = thread->behind.cache_pc;
    thread->enter_once = !thread->behind.with_position;
}

/* To where an indirect branch leads, or to the signal that it raises. */
static void go_indirectly(struct stalker_thread *thread)
{
    thread->context.pc = thread->target;
    if (!trail_refuse_branch(thread, &thread->context)) {
        go_on(thread, true);
        return;
    }
    /* The gate's own branch is refused as well, and our handler finds the program's state there. */
    thread->resume = thread->target;
    thread->enter_once = true;
}

static void handle_reason(struct stalker_thread *thread)
{
    switch (thread->reason) {
    case STALKER_EXIT:
        handle_exit(thread, code_cache_exit(thread->cache, thread->exit));
        break;
    case STALKER_INDIRECT:
        go_indirectly(thread);
        break;
    case STALKER_CHANGED:
        renew(thread);
        break;
    case STALKER_CALLED:
        /* The kernel has put the rest of the registers where they belong. */
        thread->context.pc = thread->is_in_piece
                                 ? thread->native_return
                                 : thread->engine->machine->registers->system_call_behind(&thread->context).value;
        thread->is_in_piece = false;
        call_telling_returned(thread, &thread->context);
        end_announced(thread);
        go_on(thread, false);
        break;
    case STALKER_QUIET_END:
        thread->context.pc = code_cache_block(thread->cache, thread->exit / BLOCK_EXIT_COUNT)->start.value;
        go_on(thread, true);
        break;
    case STALKER_EVENTS:
        stalker_drain_events(thread, EVENT_PLACE_IN_BLOCK);
        break;
    case STALKER_BEHIND:
        go_behind(thread);
        break;
    default:
        go_on(thread, false);
        break;
    }
}

/* Whether the thread goes on in what it came from, rather than in what is found for it now. */
static bool goes_back(const struct stalker_thread *thread)
{
    return thread->reason == STALKER_EVENTS || thread->reason == STALKER_BEHIND;
}

/* Of a thread that left a block for its events' sake all is known but where the program is. */
static bool find_program_pc(struct stalker_thread *thread)
{
    struct gait_cpu_context cpu = thread->context;
    struct code_place place;

    cpu.pc = thread->resume;
    cpu.registers[thread->engine->machine->place->position_register] = thread->event_position;
    if (!code_cache_place_at(thread->cache, cache_pc_of(thread->resume), &place) ||
        trail_recover(thread, &place, &cpu) != 0)
        return false;
    event_write_cut(thread);
    thread->context.pc = cpu.pc;
    return true;
}

/* Nobody is there who reads: the first thread to notice takes the others out, wherever they are, and leaves last. */
static bool is_abandoned(struct stalker_thread *thread)
{
    struct stalker_engine *engine = thread->engine;
    const struct process_watcher *watcher = engine->processes;

    if (watcher == NULL || !watcher->is_abandoned(watcher->context))
        return false;
    if (!atomic_exchange_explicit(&engine->is_abandoned, true, memory_order_relaxed))
        stalker_unfollow_others(engine);
    return true;
}

static bool is_unfollowed(struct stalker_thread *thread)
{
    if (!(atomic_load_explicit(&thread->requests, memory_order_relaxed) & STALKER_REQUEST_UNFOLLOW) &&
        !is_abandoned(thread))
        return false;
    return thread->reason != STALKER_EVENTS || find_program_pc(thread);
}

void stalker_dispatch(struct stalker_thread *thread)
{
    uint64_t epoch = reclaim_epoch(thread);

    counter_add(COUNTER_engine_entries, 1);
    if (!atomic_load_explicit(&thread->is_inside, memory_order_relaxed))
        signal_thread_begin(thread);
    thread->is_trying = false;
    observer_entered(thread);
    /* Before it is decided where it goes on, since they may forget code. */
    if (goes_back(thread) && was_away(thread))
        errand_run_all(thread);
    handle_reason(thread);
    if (thread->context.pc != thread->interrupted.pc)
        interrupted_call_forget(thread);
    if (!goes_back(thread)) {
        reclaim_pass(thread, epoch);
        errand_run_all(thread);
    }
    if (!thread->is_leaving && is_unfollowed(thread)) {
        stalker_leave_natively(thread);
        /* From now on nobody can send it on another one. */
        errand_run_all(thread);
    }
    vectors_put_back(thread);
    thread->enter =
        (uintptr_t)(thread->is_leaving || thread->enter_once || !thread->with_position ? stalker_enter
                                                                                       : stalker_enter_with_position);
    thread->enter_once = false;
}

void stalker_thread_begin(struct stalker_thread *thread)
{
    stalker_base_set(thread->self);
    stalker_thread_began(thread);
    signal_thread_begin(thread);
    stalker_dispatch(thread);
}
