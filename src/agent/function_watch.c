/* SPDX-License-Identifier: MIT */
/*
 * A point stands for an address with a callout, and stays as long as the session: a function that is looked at, or a
 * place behind a call. What is asked of a function is a set of patterns, by their numbers here, which threads read
 * without a lock. Invariant: of a thread's calls on one stack, the stack pointers do not grow from the first to the
 * last.
 */
#include "agent/function_watch.h"

#include "agent/call_details.h"
#include "agent/entry_loop.h"
#include "agent/errno_place.h"
#include "arch/engine.h"
#include "base/hash_map.h"
#include "base/memory_map.h"
#include "base/mutex.h"
#include "base/slab.h"
#include "base/time_counter.h"
#include "gait/stalker.h"
#include "protocol/agent_call.h"
#include "ring/ring_region.h"
#include "ring/ring_writer.h"
#include "stalker/call_probe.h"
#include "stalker/event_buffer.h"
#include "stalker/stalker_engine.h"
#include "stalker/thread.h"

#include <asm/errno.h>
#include <stdatomic.h>

#define CALLS_MAX       256u
#define RETURNS_KNOWN   64u
#define NEAR_BYTES      (256u << 10)
#define ARGUMENTS_BYTES 4096u /* that a function takes off the stack when it returns, at most */

struct watch_point {
    uint64_t address;
    _Atomic uint64_t patterns;                      /* of the function that begins here; 0: none does */
    bool may_loop;                                  /* the function itself may jump here; set before the patterns */
    const struct agent_pattern *_Atomic declared;   /* the one whose declaration counts; NULL: none; the same */
    const struct detail_declaration *_Atomic known; /* if there is none: what the controller knows; the same */
};

/* A call that has not ended. */
struct watched_call {
    const struct watch_point *point;
    struct detailed_call call;
};

/* What a thread has. */
struct watch_thread {
    struct call_details_thread details;
    uint32_t call_count;
    struct watched_call calls[CALLS_MAX];
    uint64_t returns[RETURNS_KNOWN]; /* addresses that have a point, by their lower bits */
};

static struct function_watch {
    struct mutex lock;
    struct stalker_engine *engine;
    struct ring_region *ring;
    struct hash_map points; /* by address; under lock */
    struct slab memory;
    bool is_used;
} watch;

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static void remove_call(struct watch_thread *own, uint32_t which)
{
    own->call_count--;
    for (uint32_t i = which; i < own->call_count; i++)
        own->calls[i] = own->calls[i + 1];
}

static struct detail_owner owner_of(const struct stalker_thread *thread)
{
    const struct ring_writer *index = thread->events == NULL ? NULL : thread->events->ring;

    return (struct detail_owner){
        .tid = (uint32_t)thread->tid, .serial = index == NULL ? 0 : index->serial, .give_up = &thread->requests};
}

/* It has returned with those registers; NULL: it was left in another way. */
static void end_call(struct watch_thread *own, struct stalker_thread *thread, uint32_t which,
                     const struct gait_cpu_context *returned)
{
    const struct detailed_call ended = own->calls[which].call;
    const struct detail_owner owner = owner_of(thread);

    remove_call(own, which);
    call_details_leave(&own->details, &owner, returned, &ended, which);
}

/* Whether two stack pointers are likely to be of the same stack: threads may have many. */
static bool is_near(uint64_t sp, uint64_t other_sp)
{
    return (sp > other_sp ? sp - other_sp : other_sp - sp) < NEAR_BYTES;
}

/* A stack may be moved: then a call returns to where it was to, with another stack pointer. */
static void end_moved_call(struct watch_thread *own, struct stalker_thread *thread, uint64_t sp)
{
    const struct gait_cpu_context *cpu = &thread->context;

    for (uint32_t i = own->call_count; i-- > 0;)
        if (own->calls[i].call.return_address == cpu->pc && !is_near(own->calls[i].call.sp, sp)) {
            end_call(own, thread, i, cpu);
            return;
        }
}

/*
 * A stack pointer that is above a call's tells that the call has ended: by a return to here, or in another way. Calls
 * on other stacks are passed over: the thread may go back to them.
 */
static void end_calls(struct watch_thread *own, struct stalker_thread *thread, uint64_t sp)
{
    const struct gait_cpu_context *cpu = &thread->context;
    unsigned call_slot_bytes = thread->engine->machine->registers->call_slot_bytes;
    bool has_returned = false, has_others = false;

    for (uint32_t i = own->call_count; i-- > 0;) {
        const struct detailed_call *call = &own->calls[i].call;
        bool is_return = call->return_address == cpu->pc && sp - call->sp <= call_slot_bytes + ARGUMENTS_BYTES;

        if (!is_near(call->sp, sp)) {
            has_others = true;
            continue;
        }
        if (call->sp >= sp)
            break;
        end_call(own, thread, i, is_return ? cpu : NULL);
        has_returned |= is_return;
    }
    if (has_others && !has_returned)
        end_moved_call(own, thread, sp);
}

/*
 * Whether the thread is still in its last call, of the same function: the first instruction is part of a loop, or the
 * function calls itself at its end. If it cannot be so, that call was left by a long jump.
 */
static bool is_in_call(struct watch_thread *own, struct stalker_thread *thread, const struct watched_call *call)
{
    const struct watched_call *last = own->call_count == 0 ? NULL : &own->calls[own->call_count - 1];

    if (last == NULL || last->point != call->point || last->call.sp != call->call.sp)
        return false;
    if (call->point->may_loop && last->call.return_address == call->call.return_address)
        return true;
    end_call(own, thread, own->call_count - 1, NULL);
    return false;
}

/* Makes room, by forgetting calls on stacks that the thread was on a while ago. */
static bool has_room(struct watch_thread *own, uint64_t sp)
{
    for (uint32_t i = own->call_count; own->call_count == CALLS_MAX && i-- > 0;)
        if (!is_near(own->calls[i].call.sp, sp))
            remove_call(own, i);
    return own->call_count < CALLS_MAX;
}

static void arrived(struct gait_cpu_context *cpu, void *data);

/* The point at an address; made if there is none. NULL: no memory. */
static struct watch_point *obtain_point(uint64_t address) REQUIRES(watch.lock)
{
    struct watch_point *point;
    uint64_t value;

    if (hash_map_lookup(&watch.points, address, &value))
        return (struct watch_point *)(uintptr_t)value;
    point = slab_allocate_zeroed(&watch.memory, sizeof(*point), _Alignof(struct watch_point));
    if (point == NULL)
        return NULL;
    point->address = address;
    return hash_map_insert(&watch.points, address, (uintptr_t)point) == 0 ? point : NULL;
}

static struct watch_point *watch_address(uint64_t address)
{
    struct watch_point *point;
    int result;

    mutex_lock(&watch.lock);
    point = obtain_point(address);
    mutex_unlock(&watch.lock);
    result = point == NULL ? -ENOMEM : call_probe_watch(watch.engine, address, arrived, point);
    if (result == 0 || result == -EEXIST)
        return point;
    ring_region_note_lack(watch.ring);
    return NULL;
}

/* Sees to it that the thread comes here when the call returns. */
static bool await_return(struct watch_thread *own, uint64_t address)
{
    uint64_t *known = &own->returns[(address ^ address >> 6) % RETURNS_KNOWN];

    if (*known == address)
        return true;
    if (watch_address(address) == NULL)
        return false;
    *known = address;
    return true;
}

/* Whether it matters when the call ends: of stacks, only so that a loop is told from a call. */
static bool is_awaited(const struct watched_call *call)
{
    return call->call.patterns & call_details_awaited() ||
           (call->call.patterns & call_details_stacked() && call->point->may_loop);
}

static const struct detail_declaration *declaration_of(const struct watch_point *point)
{
    const struct agent_pattern *declared = atomic_load_explicit(&point->declared, memory_order_relaxed);

    return declared == NULL ? atomic_load_explicit(&point->known, memory_order_relaxed) : &declared->declaration;
}

static void begin_call(struct watch_thread *own, struct stalker_thread *thread, const struct watch_point *point,
                       uint64_t sp)
{
    struct watched_call watched = {.point = point};
    const struct detail_owner owner = owner_of(thread);
    struct detailed_call *call = &watched.call;

    call->function = point->address;
    call->sp = sp;
    call->patterns = atomic_load_explicit(&point->patterns, memory_order_acquire);
    if (call->patterns == 0 || !detail_lane_can_read(&own->details.lane, sp))
        return;
    call->return_address = gait_cpu_return_address(&thread->context);
    if (is_in_call(own, thread, &watched))
        return;
    call->entered_time = time_counter();
    call->declaration = declaration_of(point);
    call_details_enter(&own->details, &owner, &thread->context, call, own->call_count);
    if (is_awaited(&watched) && has_room(own, sp) && await_return(own, call->return_address))
        own->calls[own->call_count++] = watched;
}

static struct watch_thread *obtain_thread(struct stalker_thread *thread)
{
    void *storage;

    if (thread->watch != NULL)
        return thread->watch;
    if (memory_map(sizeof(struct watch_thread), &storage) == 0)
        thread->watch = storage;
    else
        ring_region_note_lack(watch.ring);
    return thread->watch;
}

struct detail_lane *function_watch_call_lane(struct stalker_thread *thread)
{
    struct watch_thread *own = obtain_thread(thread);
    const struct detail_owner owner = owner_of(thread);

    return own != NULL && detail_lane_open(&own->details.lane, watch.ring, &owner) ? &own->details.lane : NULL;
}

/* A thread begins a function that is looked at, or is behind a call of one. From translated code. */
static void arrived(struct gait_cpu_context *cpu, void *data)
{
    struct stalker_thread *thread =
        (struct stalker_thread *)(void *)((uint8_t *)cpu - offsetof(struct stalker_thread, context));
    struct watch_thread *own = obtain_thread(thread);
    uint64_t sp = gait_cpu_stack_pointer(cpu);

    if (own == NULL)
        return;
    end_calls(own, thread, sp);
    begin_call(own, thread, data, sp);
}

uint32_t function_watch_depth(const struct stalker_thread *thread)
{
    const struct watch_thread *own = thread->watch;

    return own == NULL ? 0 : own->call_count;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* Of several, the first one that the user gave counts. What was there before may be of another function. */
static void declare(struct watch_point *point, const struct agent_pattern *pattern, bool is_new)
{
    const struct agent_pattern *before = is_new ? NULL : atomic_load_explicit(&point->declared, memory_order_relaxed);
    bool counts = pattern->declaration.is_given && (before == NULL || pattern < before);

    atomic_store_explicit(&point->declared, counts ? pattern : before, memory_order_relaxed);
    if (is_new)
        atomic_store_explicit(&point->known, NULL, memory_order_relaxed);
}

void function_watch_add(const struct agent_pattern *pattern, uint32_t number, uint64_t address, uint64_t size_bytes)
{
    struct watch_point *point;
    bool is_new;

    if (pattern->use == AGENT_PATTERN_ERRNO) {
        errno_place_add(address);
        return;
    }
    point = watch_address(address);
    if (point == NULL)
        return;
    is_new = atomic_load_explicit(&point->patterns, memory_order_relaxed) == 0;
    if (is_new)
        point->may_loop = entry_loop_may_be(address, size_bytes);
    declare(point, pattern, is_new);
    atomic_fetch_or_explicit(&point->patterns, 1ull << number, memory_order_release);
}

void function_watch_declare(uint64_t address, const struct detail_declaration *declaration)
{
    uint64_t value;

    mutex_lock(&watch.lock);
    if (hash_map_lookup(&watch.points, address, &value))
        atomic_store_explicit(&((struct watch_point *)(uintptr_t)value)->known, declaration, memory_order_relaxed);
    mutex_unlock(&watch.lock);
}

void function_watch_remove(uint64_t start, uint64_t end)
{
    uint64_t cursor = 0, address, value;

    errno_place_remove(start, end);
    mutex_lock(&watch.lock);
    while (hash_map_next(&watch.points, &cursor, &address, &value))
        if (address >= start && address < end)
            atomic_store_explicit(&((struct watch_point *)(uintptr_t)value)->patterns, 0, memory_order_release);
    mutex_unlock(&watch.lock);
}

/* ---- threads, and the whole -------------------------------------------------------------------------------------- */

static void thread_ended(struct stalker_thread *thread)
{
    struct watch_thread *own = thread->watch;

    call_details_thread_ended(&own->details);
    memory_unmap(own, sizeof(*own));
}

static void thread_forgotten(struct stalker_thread *thread)
{
    struct watch_thread *own = thread->watch;

    call_details_thread_forgotten(&own->details);
    memory_unmap(own, sizeof(*own));
}

static void thread_forked(struct stalker_thread *thread)
{
    struct watch_thread *own = thread->watch;

    detail_lane_forget(&own->details.lane);
}

/* Another thread may be adding a point. */
NO_THREAD_SAFETY_ANALYSIS static void hold(void)
{
    mutex_lock(&watch.lock);
}

NO_THREAD_SAFETY_ANALYSIS static void let_go(void)
{
    mutex_unlock(&watch.lock);
}

int function_watch_begin(struct stalker_engine *engine, struct ring_region *ring, const struct agent_options *options)
{
    static const struct thread_watcher watcher = {
        .hold = hold, .let_go = let_go, .ended = thread_ended, .forgotten = thread_forgotten, .forked = thread_forked};
    int result = hash_map_init(&watch.points, 64);

    if (result != 0)
        return result;
    slab_init(&watch.memory, 0);
    watch.engine = engine;
    watch.ring = ring;
    call_details_begin(ring, options);
    watch.is_used = true;
    engine->thread_watcher = &watcher;
    return 0;
}

void function_watch_end(void)
{
    if (!watch.is_used)
        return;
    hash_map_deinit(&watch.points);
    slab_deinit(&watch.memory);
    call_details_end();
    watch = (struct function_watch){.is_used = false};
}

void function_watch_begin_in_child(void)
{
    /* Of the parent's threads, one that is not here may have had it. */
    watch.lock = (struct mutex){0};
}
