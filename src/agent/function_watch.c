/* SPDX-License-Identifier: MIT */
/*
 * A point stands for an address with a callout, and stays as long as the session: a function that is looked at, or a
 * place behind a call. What is asked of a function is a set of patterns, by their numbers here, which threads read
 * without a lock. Invariant: of a thread's calls on one stack, the stack pointers do not grow from the first to the
 * last.
 */
#include "agent/function_watch.h"

#include "agent/call_stack.h"
#include "agent/detail_capture.h"
#include "agent/detail_lane.h"
#include "agent/entry_loop.h"
#include "agent/errno_place.h"
#include "arch/calling_thread.h"
#include "base/clock_pair.h"
#include "base/hash_map.h"
#include "base/memory_map.h"
#include "base/mutex.h"
#include "base/slab.h"
#include "base/time_counter.h"
#include "gait/stalker.h"
#include "protocol/agent_call.h"
#include "ring/ring_region.h"
#include "ring/trigger_log.h"
#include "stalker/call_probe.h"
#include "stalker/thread.h"
#include "stalker/translator.h"

#include <asm/errno.h>
#include <stdatomic.h>

#define CALLS_MAX       256u
#define RETURNS_KNOWN   64u
#define NEAR_BYTES      (256u << 10)
#define ARGUMENTS_BYTES 4096u /* that a function takes off the stack when it returns, at most */

__extension__ typedef unsigned __int128 wide;

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
    uint64_t sp; /* where its return address is */
    uint64_t return_address;
    uint64_t entered_time;
    uint64_t patterns;
    const struct detail_declaration *declaration;
};

/* What a thread has. */
struct watch_thread {
    struct detail_lane lane;
    struct call_stack_walker *walker; /* NULL: none yet */
    bool has_no_walker;               /* there is no memory for it */
    uint32_t call_count;
    struct watched_call calls[CALLS_MAX];
    uint64_t returns[RETURNS_KNOWN]; /* addresses that have a point, by their lower bits */
};

static struct function_watch {
    struct mutex lock;
    struct stalker_engine *engine;
    struct ring_region *ring;
    uint32_t stack_bytes;
    uint32_t string_bytes;
    uint32_t stack_frames;
    uint32_t pattern_count;
    const struct agent_pattern *patterns[AGENT_PATTERNS_MAX];
    uint64_t detailed; /* patterns, by their number here, that are for the detail lane; and so on */
    uint64_t triggering;
    uint64_t slow;
    uint64_t stacked;
    struct hash_map points; /* by address; under lock */
    struct slab memory;
    bool is_used;
    struct clock_pair began;
    _Atomic uint64_t tick_length; /* 0: not known well yet */
} watch;

/* ---- time -------------------------------------------------------------------------------------------------------- */

/* Long enough for both clocks to be compared well; until then, they are compared each time. */
#define COMPARED_NS 1000000000ull
#define FRACTION    32

/* How many nanoseconds a tick of the counter takes, in units of 2^-32. */
static uint64_t tick_length(void)
{
    uint64_t length = atomic_load_explicit(&watch.tick_length, memory_order_relaxed), elapsed_ns, ticks;
    struct clock_pair now;
    bool is_long;

    if (length != 0)
        return length;
    now = clock_pair_read();
    elapsed_ns = now.monotonic_ns - watch.began.monotonic_ns;
    ticks = now.counter - watch.began.counter;
    is_long = elapsed_ns > COMPARED_NS;
    /* So that it can be divided. */
    for (; elapsed_ns >> FRACTION != 0; elapsed_ns /= 2)
        ticks /= 2;
    if (ticks == 0)
        return 0;
    length = (elapsed_ns << FRACTION) / ticks;
    if (is_long)
        atomic_store_explicit(&watch.tick_length, length, memory_order_relaxed);
    return length;
}

static uint64_t nanoseconds_of(uint64_t ticks)
{
    return (uint64_t)((wide)ticks * tick_length() >> FRACTION);
}

/* ---- triggers ---------------------------------------------------------------------------------------------------- */

static void trigger(const struct stalker_thread *thread, uint32_t kind, uint32_t pattern, uint64_t time, uint64_t value)
{
    trigger_log_add(watch.ring, &(struct ring_trigger){
                                    .time = time,
                                    .kind = kind,
                                    .number = watch.patterns[pattern]->number,
                                    .tid = (uint32_t)thread->tid,
                                    .value = value,
                                });
}

static void trigger_calls(const struct stalker_thread *thread, uint64_t patterns, uint64_t time)
{
    for (uint64_t left = patterns & watch.triggering; left != 0; left &= left - 1)
        trigger(thread, RING_TRIGGER_CALL, (uint32_t)__builtin_ctzll(left), time, 0);
}

static void trigger_slow(const struct stalker_thread *thread, const struct watched_call *call, uint64_t time)
{
    uint64_t left = call->patterns & watch.slow, took;

    if (left == 0)
        return;
    took = nanoseconds_of(time - call->entered_time);
    for (; left != 0; left &= left - 1) {
        uint32_t pattern = (uint32_t)__builtin_ctzll(left);

        if (took > watch.patterns[pattern]->value)
            trigger(thread, RING_TRIGGER_SLOW, pattern, time, time - call->entered_time);
    }
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static void remove_call(struct watch_thread *own, uint32_t which)
{
    own->call_count--;
    for (uint32_t i = which; i < own->call_count; i++)
        own->calls[i] = own->calls[i + 1];
}

/* In a function of its own, so that nobody else needs room for values on the stack. */
static __attribute__((noinline)) void tell_leave(struct watch_thread *own, struct stalker_thread *thread,
                                                 const struct watched_call *call, const struct detail_leave *leave)
{
    const struct detail_declaration *declaration = call->declaration;
    uint64_t vectors[CALLING_THREAD_VECTORS];
    struct detail_result result = {.value = leave->value};
    uint8_t bytes[DETAIL_STACK_BYTES_MAX];
    struct detail_values values = {bytes, 0};

    if (declaration != NULL && leave->record.kind == DETAIL_LEAVE) {
        if (detail_declaration_has_vectors(declaration, true)) {
            calling_thread_vectors(vectors);
            result.vectors = vectors;
        }
        if (detail_capture_has_failed(declaration, result.value))
            result.errno_place = errno_place_find();
        values.size_bytes = detail_capture_result(declaration, &result, watch.string_bytes, bytes, sizeof(bytes));
    }
    detail_lane_leave(&own->lane, thread, leave, values);
}

/* It has returned with those registers; NULL: it was left in another way. */
static void end_call(struct watch_thread *own, struct stalker_thread *thread, uint32_t which,
                     const struct gait_cpu_context *returned)
{
    const struct watched_call ended = own->calls[which], *call = &ended;
    struct detail_leave leave = {
        .record =
            {
                .kind = returned == NULL ? DETAIL_LEFT : DETAIL_LEAVE,
                .depth = (uint16_t)which,
                .time = time_counter(),
                .function = call->point->address,
                .sp = call->sp,
            },
        .entered_time = call->entered_time,
    };

    remove_call(own, which);
    if (returned != NULL)
        leave.value = translator_host()->call_value(returned);
    if (call->patterns & watch.detailed && detail_lane_open(&own->lane, watch.ring, thread))
        tell_leave(own, thread, call, &leave);
    trigger_slow(thread, call, leave.record.time);
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
        if (own->calls[i].return_address == cpu->pc && !is_near(own->calls[i].sp, sp)) {
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
    bool has_returned = false, has_others = false;

    for (uint32_t i = own->call_count; i-- > 0;) {
        const struct watched_call *call = &own->calls[i];
        bool is_return = call->return_address == cpu->pc && sp - call->sp <= sizeof(uint64_t) + ARGUMENTS_BYTES;

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

    if (last == NULL || last->point != call->point || last->sp != call->sp)
        return false;
    if (call->point->may_loop && last->return_address == call->return_address)
        return true;
    end_call(own, thread, own->call_count - 1, NULL);
    return false;
}

/* Makes room, by forgetting calls on stacks that the thread was on a while ago. */
static bool has_room(struct watch_thread *own, uint64_t sp)
{
    for (uint32_t i = own->call_count; own->call_count == CALLS_MAX && i-- > 0;)
        if (!is_near(own->calls[i].sp, sp))
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

static __attribute__((noinline)) void tell_enter(struct watch_thread *own, struct stalker_thread *thread,
                                                 const struct watched_call *call)
{
    struct detail_enter enter = {
        .record =
            {
                .depth = (uint16_t)own->call_count,
                .time = call->entered_time,
                .function = call->point->address,
                .sp = call->sp,
            },
        .caller = call->return_address,
        .stack_bytes = watch.stack_bytes,
    };
    struct detail_registers registers = {.sp = call->sp};
    uint64_t vectors[CALLING_THREAD_VECTORS];
    uint8_t bytes[DETAIL_STACK_BYTES_MAX];
    struct detail_values values = {bytes, 0};

    translator_host()->call_arguments(&thread->context, enter.arguments);
    if (call->declaration != NULL) {
        __builtin_memcpy(registers.arguments, enter.arguments, sizeof(enter.arguments));
        /* Here they are still the program's: nothing of ours uses them. */
        if (detail_declaration_has_vectors(call->declaration, false)) {
            calling_thread_vectors(vectors);
            registers.vectors = vectors;
        }
        values.size_bytes =
            detail_capture_arguments(call->declaration, &registers, watch.string_bytes, bytes, sizeof(bytes));
    }
    detail_lane_enter(&own->lane, thread, &enter, values);
}

static bool obtain_walker(struct watch_thread *own, uint64_t sp)
{
    if (own->walker != NULL || own->has_no_walker)
        return own->walker != NULL;
    own->walker = call_stack_walker_acquire(sp);
    own->has_no_walker = own->walker == NULL;
    if (own->has_no_walker)
        ring_region_note_lack(watch.ring);
    return own->walker != NULL;
}

static __attribute__((noinline)) void tell_stack(struct watch_thread *own, struct stalker_thread *thread,
                                                 const struct watched_call *call)
{
    struct detail_stack stack = {
        .record =
            {
                .depth = (uint16_t)own->call_count,
                .time = call->entered_time,
                .function = call->point->address,
                .sp = call->sp,
            },
    };
    uint64_t addresses[DETAIL_STACK_FRAMES_MAX];
    bool goes_on;

    if (!obtain_walker(own, call->sp))
        return;
    stack.frame_count =
        (uint32_t)call_stack_take(own->walker, &thread->context, addresses, watch.stack_frames, &goes_on);
    stack.flags = goes_on ? DETAIL_STACK_GOES_ON : 0;
    detail_lane_stack(&own->lane, thread, &stack, addresses);
}

static void tell_call(struct watch_thread *own, struct stalker_thread *thread, const struct watched_call *call)
{
    if (!(call->patterns & (watch.detailed | watch.stacked)) || !detail_lane_open(&own->lane, watch.ring, thread))
        return;
    if (call->patterns & watch.detailed)
        tell_enter(own, thread, call);
    if (call->patterns & watch.stacked)
        tell_stack(own, thread, call);
}

/* Whether it matters when the call ends: of stacks, only so that a loop is told from a call. */
static bool is_awaited(const struct watched_call *call)
{
    return call->patterns & (watch.detailed | watch.slow) || (call->patterns & watch.stacked && call->point->may_loop);
}

static const struct detail_declaration *declaration_of(const struct watch_point *point)
{
    const struct agent_pattern *declared = atomic_load_explicit(&point->declared, memory_order_relaxed);

    return declared == NULL ? atomic_load_explicit(&point->known, memory_order_relaxed) : &declared->declaration;
}

static void begin_call(struct watch_thread *own, struct stalker_thread *thread, const struct watch_point *point,
                       uint64_t sp)
{
    struct watched_call call = {.point = point, .sp = sp};
    struct gait_call entered;

    call.patterns = atomic_load_explicit(&point->patterns, memory_order_acquire);
    if (call.patterns == 0 || !detail_lane_can_read(&own->lane, sp))
        return;
    translator_host()->call_get(&thread->context, &entered);
    call.return_address = entered.return_address;
    if (is_in_call(own, thread, &call))
        return;
    call.entered_time = time_counter();
    call.declaration = declaration_of(point);
    tell_call(own, thread, &call);
    trigger_calls(thread, call.patterns, call.entered_time);
    if (is_awaited(&call) && has_room(own, sp) && await_return(own, call.return_address))
        own->calls[own->call_count++] = call;
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

/* A thread begins a function that is looked at, or is behind a call of one. From translated code. */
static void arrived(struct gait_cpu_context *cpu, void *data)
{
    struct stalker_thread *thread =
        (struct stalker_thread *)(void *)((uint8_t *)cpu - offsetof(struct stalker_thread, context));
    struct watch_thread *own = obtain_thread(thread);
    uint64_t sp = translator_host()->stack_pointer(cpu);

    if (own == NULL)
        return;
    end_calls(own, thread, sp);
    begin_call(own, thread, data, sp);
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* A number for the pattern; AGENT_PATTERNS_MAX: there is none left. */
static uint32_t number_of(const struct agent_pattern *pattern) REQUIRES(watch.lock)
{
    uint32_t number = 0;

    while (number < watch.pattern_count && watch.patterns[number] != pattern)
        number++;
    if (number < watch.pattern_count || number == AGENT_PATTERNS_MAX)
        return number;
    watch.patterns[watch.pattern_count++] = pattern;
    watch.detailed |= (uint64_t)(pattern->use == AGENT_PATTERN_DETAIL) << number;
    watch.triggering |= (uint64_t)(pattern->use == AGENT_PATTERN_TRIGGER_CALL) << number;
    watch.slow |= (uint64_t)(pattern->use == AGENT_PATTERN_TRIGGER_SLOW) << number;
    watch.stacked |= (uint64_t)(pattern->use == AGENT_PATTERN_STACK) << number;
    return number;
}

/* Of several, the first one that the user gave counts. What was there before may be of another function. */
static void declare(struct watch_point *point, const struct agent_pattern *pattern, bool is_new)
{
    const struct agent_pattern *before = is_new ? NULL : atomic_load_explicit(&point->declared, memory_order_relaxed);
    bool counts = pattern->declaration.is_given && (before == NULL || pattern < before);

    atomic_store_explicit(&point->declared, counts ? pattern : before, memory_order_relaxed);
    if (is_new)
        atomic_store_explicit(&point->known, NULL, memory_order_relaxed);
}

void function_watch_add(const struct agent_pattern *pattern, uint64_t address, uint64_t size_bytes)
{
    struct watch_point *point;
    uint32_t number;
    bool is_new;

    if (pattern->use == AGENT_PATTERN_ERRNO) {
        errno_place_add(address);
        return;
    }
    mutex_lock(&watch.lock);
    number = number_of(pattern);
    mutex_unlock(&watch.lock);
    point = number == AGENT_PATTERNS_MAX ? NULL : watch_address(address);
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

    detail_lane_close(&own->lane);
    call_stack_walker_release(own->walker);
    memory_unmap(own, sizeof(*own));
}

static void thread_forgotten(struct stalker_thread *thread)
{
    struct watch_thread *own = thread->watch;

    detail_lane_forget(&own->lane);
    call_stack_walker_release(own->walker);
    memory_unmap(own, sizeof(*own));
}

static void thread_forked(struct stalker_thread *thread)
{
    struct watch_thread *own = thread->watch;

    detail_lane_forget(&own->lane);
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
    watch.stack_bytes = options->stack_bytes < DETAIL_STACK_BYTES_MAX ? options->stack_bytes : DETAIL_STACK_BYTES_MAX;
    watch.string_bytes =
        options->string_bytes < DETAIL_STACK_BYTES_MAX ? options->string_bytes : DETAIL_STACK_BYTES_MAX;
    watch.stack_frames =
        options->stack_frames < DETAIL_STACK_FRAMES_MAX ? options->stack_frames : DETAIL_STACK_FRAMES_MAX;
    watch.began = ring_region_header(ring)->began;
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
    watch = (struct function_watch){.is_used = false};
}

void function_watch_begin_in_child(void)
{
    /* Of the parent's threads, one that is not here may have had it. */
    watch.lock = (struct mutex){0};
}
