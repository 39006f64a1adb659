/* SPDX-License-Identifier: MIT */
/*
 * Followed threads come and go here. Invariant: a thread is in the engine's list exactly while it may be in the cache.
 * Its struct outlives that, since the gate still reads it on the way out; it is used again by the same thread.
 */
#include "stalker/follow.h"

#include "arch/engine.h"
#include "base/counters.h"
#include "base/memory_map.h"
#include "base/raw_syscall.h"
#include "base/time_counter.h"
#include "process/memory_probe.h"
#include "stalker/code_cache.h"
#include "stalker/dispatch.h"
#include "stalker/exclusion.h"
#include "stalker/reclaim.h"
#include "stalker/signal_actions.h"
#include "stalker/signal_virtualize.h"
#include "stalker/stalker_engine.h"
#include "stalker/stalker_gate.h"
#include "stalker/thread.h"
#include "stalker/thread_registry.h"
#include "stalker/vectors.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/futex.h>
#include <linux/time_types.h>

#define STACK_BYTES        ((256u << 10) + SIGNAL_STACK_BYTES)
#define EVENT_BUFFER_BYTES (256u << 10)

int stalker_current_tid(void)
{
    return (int)raw_syscall(__NR_gettid, 0, 0, 0, 0, 0, 0);
}

static struct stalker_thread *find_in(struct list_node *list, int tid)
{
    LIST_FOR_EACH (node, list) {
        struct stalker_thread *thread = LIST_ELEMENT(node, struct stalker_thread, node);

        if (thread->tid == tid)
            return thread;
    }
    return NULL;
}

struct stalker_thread *stalker_thread_find(struct stalker_engine *engine, int tid)
{
    return find_in(&engine->threads, tid);
}

/* The struct stands at the far end of the stack: one mapping for both. */
static struct stalker_thread *create_thread(void)
{
    struct stalker_thread *thread;
    void *storage;

    if (memory_map(STACK_BYTES, &storage) != 0)
        return NULL;
    thread = (struct stalker_thread *)(void *)((uint8_t *)storage + STACK_BYTES - sizeof(*thread) - 64);
    thread = (struct stalker_thread *)((uintptr_t)thread & ~(uintptr_t)63);
    thread->stack = storage;
    thread->stack_bytes = STACK_BYTES;
    if (thread_registry_add(thread) != 0) {
        memory_unmap(storage, STACK_BYTES);
        return NULL;
    }
    return thread;
}

void stalker_thread_use_cache(struct stalker_thread *thread, struct code_cache *cache)
{
    const struct stalker_engine_options *options = &thread->engine->options;

    thread->cache = cache;
    thread->blocks = options->without_lookup || options->trust > 0 ? &thread->engine->nothing : &cache->blocks;
    thread->with_position = cache->configuration.events & EVENTS_IN_CODE;
    thread->leave = (uintptr_t)(thread->with_position ? stalker_leave_with_position : stalker_leave);
}

static void init_thread(struct stalker_thread *thread, struct stalker_engine *engine, struct code_cache *cache)
{
    thread->self = (uintptr_t)thread;
    thread->engine_sp = (uintptr_t)thread & ~(uintptr_t)63;
    thread->reason = STALKER_ENTER;
    thread->gate = (uintptr_t)stalker_gate_exit;
    thread->gate_collision = (uintptr_t)stalker_gate_indirect;
    thread->gate_events = (uintptr_t)stalker_gate_events;
    thread->gate_changed = (uintptr_t)stalker_gate_changed;
    thread->gate_callout = (uintptr_t)stalker_gate_callout;
    thread->gate_callout_position = (uintptr_t)stalker_gate_callout_with_position;
    thread->is_leaving = false;
    thread->engine = engine;
    thread->observed_cache = cache;
    thread->quiet_depth = 0;
    thread->is_inactive = false;
    thread->stepping_from = 0;
    thread->is_trying = false;
    /* It is in no code that was retired before. */
    atomic_store_explicit(&thread->epoch, atomic_load_explicit(&engine->epoch, memory_order_acquire),
                          memory_order_release);
    thread->gate_quiet_end = (uintptr_t)stalker_gate_quiet_end;
    thread->gate_called = (uintptr_t)stalker_gate_called;
    stalker_thread_use_cache(thread, cache);
    atomic_store_explicit(&thread->requests, 0, memory_order_relaxed);
    thread->errands = NULL;
}

/* A new buffer each time: what is left in an old one belongs to another way of following. */
static int init_events(struct stalker_thread *thread, const struct follow_request *request)
{
    size_t size_bytes = request->buffer_bytes == 0 ? EVENT_BUFFER_BYTES : request->buffer_bytes;
    int result;

    event_buffer_destroy(thread->events);
    thread->events = NULL;
    thread->new_threads = request->new_threads;
    thread->buffer_bytes = size_bytes;
    if (request->configuration.events == 0)
        return 0;
    if (request->configuration.ring != NULL)
        result = event_buffer_create_in_ring(thread->observed_cache, (uint32_t)thread->tid, request->is_whole,
                                             &thread->events);
    else
        result = event_buffer_create(size_bytes, &thread->events);
    if (result != 0)
        return result;
    event_buffer_set(thread->events, request->configuration.events, request->configuration.times, request->receiver);
    event_buffer_set_tid(thread->events, (uint32_t)thread->tid);
    thread->events->decoder.is_whole = request->is_whole;
    thread->event_position = thread->events->start;
    thread->event_limit = thread->events->end;
    return 0;
}

/* A struct for the thread, on the parked list: its last one, or a new one. */
static struct stalker_thread *park_thread(struct stalker_engine *engine, int tid) REQUIRES(engine->lock)
{
    struct stalker_thread *thread = find_in(&engine->parked, tid);

    if (thread == NULL)
        thread = create_thread();
    if (thread == NULL)
        return NULL;
    thread->tid = tid;
    if (thread_registry_add(thread) != 0)
        return NULL;
    list_remove(&thread->node);
    list_add_last(&engine->parked, &thread->node);
    return thread;
}

/* Whether the thread that the struct was for is still using it, to leave. */
static bool is_on_its_way(const struct stalker_thread *thread)
{
    return thread != NULL && atomic_load_explicit(&thread->is_inside, memory_order_acquire);
}

int stalker_follow_create(struct stalker_engine *engine, int tid, const struct follow_request *request,
                          struct stalker_thread **thread_out)
{
    struct stalker_thread *thread;
    struct code_cache *cache;
    int result;

    if (stalker_thread_find(engine, tid) != NULL)
        return -EALREADY;
    if (is_on_its_way(find_in(&engine->parked, tid)))
        return -EAGAIN;
    reclaim_threads(engine);
    result = stalker_engine_cache(engine, &request->configuration, &cache);
    if (result != 0)
        return result;
    thread = park_thread(engine, tid);
    if (thread == NULL)
        return -ENOMEM;
    init_thread(thread, engine, cache);
    result = vectors_prepare(thread);
    if (result == 0)
        result = init_events(thread, request);
    if (result != 0)
        return result;
    thread_choice_ask(thread);
    list_remove(&thread->node);
    list_add_last(&engine->threads, &thread->node);
    counter_add(COUNTER_threads_followed, 1);
    *thread_out = thread;
    return 0;
}

void stalker_read_events(struct stalker_thread *thread, enum event_place place)
{
    thread->event_position =
        event_buffer_drain(thread->events, thread->observed_cache, thread->event_position, place, &thread->requests);
    thread->event_limit = thread->events->end;
}

void stalker_follow_cancel(struct stalker_thread *thread)
{
    list_remove(&thread->node);
    list_add_last(&thread->engine->parked, &thread->node);
}

static void end_watch(struct stalker_thread *thread)
{
    if (thread->watch != NULL)
        thread->engine->thread_watcher->ended(thread);
    thread->watch = NULL;
}

void stalker_follow_end(struct stalker_thread *thread)
{
    if (thread->events != NULL) {
        stalker_read_events(thread, EVENT_PLACE_BETWEEN_BLOCKS);
        event_buffer_end(thread->events, thread->event_position);
        thread->engine->event_bytes_lost += thread->events->lost_bytes;
    }
    end_watch(thread);
    /* One that ended in the engine, or on its way there, does not leave any more. */
    if (stalker_thread_has_actions(thread))
        signal_actions_release();
    atomic_store_explicit(&thread->is_expected, false, memory_order_relaxed);
    atomic_store_explicit(&thread->is_inside, false, memory_order_relaxed);
    stalker_follow_cancel(thread);
}

/* Whether there is a word at an address, and has that value. The kernel looks: there may be nothing at all. */
static bool word_is(const void *address, uint32_t value)
{
    static const struct __kernel_timespec no_time;

    return raw_syscall(__NR_futex, (long)address, FUTEX_WAIT, value, (long)&no_time, 0, 0) == -ETIMEDOUT;
}

/*
 * Whether another engine follows the calling thread: then the register that translated code finds its thread with leads
 * to that. It may also be the program's, or have been inherited from a thread that is long gone.
 */
static bool is_followed_elsewhere(void)
{
    uint64_t base = stalker_base_get();
    const struct stalker_thread *thread = (const struct stalker_thread *)(uintptr_t)base;

    return base != 0 && word_is(&thread->self, (uint32_t)base) &&
           word_is(&thread->gate, (uint32_t)(uintptr_t)stalker_gate_exit) &&
           word_is(&thread->tid, (uint32_t)stalker_current_tid()) && word_is(&thread->is_leaving, 0);
}

int stalker_follow_prepare(struct stalker_engine *engine, const struct follow_request *request,
                           struct stalker_thread **thread_out)
{
    int result;

    if (is_followed_elsewhere())
        return -EALREADY;
    mutex_lock(&engine->lock);
    result = stalker_follow_create(engine, stalker_current_tid(), request, thread_out);
    mutex_unlock(&engine->lock);
    if (result != 0)
        return result;
    (*thread_out)->thread_base = stalker_base_get();
    stalker_base_set((uintptr_t)*thread_out);
    /* Before the stack is changed: see stalker_gate_begin. */
    signal_thread_hold(*thread_out);
    return 0;
}

static struct follow_request request_like(const struct stalker_thread *thread)
{
    struct follow_request request = {
        .configuration = thread->observed_cache->configuration,
        .buffer_bytes = thread->buffer_bytes,
        .new_threads = thread->new_threads,
    };

    if (thread->events != NULL)
        request.receiver = thread->events->decoder.receiver;
    return request;
}

void stalker_thread_destroy(struct stalker_thread *thread)
{
    thread_registry_remove(thread);
    event_buffer_destroy(thread->events);
    if (thread->vectors != NULL)
        memory_unmap(thread->vectors, vector_state_bytes());
    memory_unmap(thread->stack, thread->stack_bytes);
}

static struct stalker_thread *create_like(const struct stalker_thread *parent)
{
    struct follow_request request = request_like(parent);
    struct stalker_thread *child = create_thread();

    if (child == NULL)
        return NULL;
    request.is_whole = true;
    init_thread(child, parent->engine, parent->observed_cache);
    if (vectors_prepare(child) != 0 || init_events(child, &request) != 0) {
        stalker_thread_destroy(child);
        return NULL;
    }
    child->thread_base = parent->thread_base;
    child->context = parent->context;
    parent->engine->machine->registers->system_call_done(&child->context, 0);
    return child;
}

int stalker_follow_clone(struct stalker_thread *thread, long *result_out)
{
    struct stalker_engine *engine = thread->engine;
    struct stalker_thread *child = create_like(thread);

    if (child == NULL)
        return -ENOMEM;
    /* Both go on from here with the same mask. */
    signal_thread_hold(thread);
    child->signals_held = thread->signals_held;
    child->signals_mask = thread->signals_mask;
    mutex_lock(&engine->lock);
    reclaim_threads(engine);
    list_add_last(&engine->threads, &child->node);
    mutex_unlock(&engine->lock);
    thread->was_trapped = false;
    signal_thread_let_traps(thread, true);
    *result_out = stalker_clone(thread, child);
    signal_thread_let_traps(thread, false);
    if (*result_out > 0 && !thread->was_trapped)
        return 0;
    mutex_lock(&engine->lock);
    list_remove(&child->node);
    mutex_unlock(&engine->lock);
    stalker_thread_destroy(child);
    return 0;
}

void stalker_thread_began(struct stalker_thread *thread)
{
    /* Traps were let in for the call that made it. */
    signal_mask_set(SIGNAL_MASK_ALL);
    thread->tid = stalker_current_tid();
    if (thread_registry_add(thread) != 0)
        counter_add(COUNTER_threads_unknown, 1);
    if (thread->events != NULL)
        event_buffer_set_tid(thread->events, (uint32_t)thread->tid);
    thread_choice_ask(thread);
    counter_add(COUNTER_threads_followed, 1);
}

int stalker_unfollow_current(struct stalker_engine *engine)
{
    struct stalker_thread *thread;

    mutex_lock(&engine->lock);
    thread = stalker_thread_find(engine, stalker_current_tid());
    mutex_unlock(&engine->lock);
    if (thread == NULL)
        return -ESRCH;
    atomic_fetch_or_explicit(&thread->requests, STALKER_REQUEST_UNFOLLOW, memory_order_relaxed);
    return 0;
}

bool stalker_is_following(struct stalker_engine *engine, int tid)
{
    bool followed;

    mutex_lock(&engine->lock);
    followed = stalker_thread_find(engine, tid) != NULL;
    mutex_unlock(&engine->lock);
    return followed;
}

/* Whether nobody will come any more, nor ask for anything. */
static void tell_all_left(struct stalker_engine *engine) REQUIRES(engine->lock)
{
    const struct process_watcher *watcher = engine->processes;

    if (watcher != NULL && list_is_empty(&engine->threads) &&
        atomic_load_explicit(&engine->is_abandoned, memory_order_relaxed))
        watcher->all_left(watcher->context);
}

void stalker_leave_natively(struct stalker_thread *thread)
{
    struct stalker_engine *engine = thread->engine;

    thread->resume = thread->context.pc;
    thread->is_leaving = true;
    if (thread->events != NULL)
        stalker_drain_events(thread, EVENT_PLACE_BETWEEN_BLOCKS);
    if (thread->events != NULL && !thread->events->is_draining)
        event_buffer_end(thread->events, thread->event_position);
    end_watch(thread);
    mutex_lock(&engine->lock);
    if (thread->events != NULL)
        engine->event_bytes_lost += thread->events->lost_bytes;
    list_remove(&thread->node);
    list_add_last(&engine->parked, &thread->node);
    tell_all_left(engine);
    mutex_unlock(&engine->lock);
}

void stalker_flush_current(struct stalker_engine *engine)
{
    struct stalker_thread *thread;

    mutex_lock(&engine->lock);
    thread = stalker_thread_find(engine, stalker_current_tid());
    mutex_unlock(&engine->lock);
    /* Natively called: the position is where translated code left it, and vector registers are nobody's. */
    if (thread != NULL && thread->events != NULL && !thread->events->is_draining) {
        stalker_read_events(thread, EVENT_PLACE_BETWEEN_BLOCKS);
    }
}

/* ---- threads that go on natively --------------------------------------------------------------------------------- */

void thread_left_tell(const struct stalker_thread *thread, enum ring_left_reason reason)
{
    struct ring_left left = {
        .time = time_counter(),
        .pc = thread->context.pc,
        .tid = (uint32_t)thread->tid,
        .reason = reason,
    };
    struct ring_region *ring = thread->observed_cache->configuration.ring;

    counter_add(COUNTER_threads_left, 1);
    if (ring == NULL)
        return;
    left.code_bytes = (uint32_t)memory_probe_copy_some(left.pc, left.code, sizeof(left.code));
    left_log_add(ring, &left);
}
