/* SPDX-License-Identifier: MIT */
#include "agent/call_details.h"

#include "agent/call_stack.h"
#include "agent/detail_capture.h"
#include "agent/errno_place.h"
#include "arch/calling_thread.h"
#include "base/clock_pair.h"
#include "base/time_counter.h"
#include "protocol/agent_call.h"
#include "ring/ring_region.h"
#include "ring/trigger_log.h"

#include <stdatomic.h>

__extension__ typedef unsigned __int128 wide;

static struct call_details {
    struct ring_region *ring;
    uint32_t stack_bytes;
    uint32_t string_bytes;
    uint32_t stack_frames;
    uint64_t detailed; /* patterns that are for the detail lane; and so on */
    uint64_t triggering;
    uint64_t slow;
    uint64_t stacked;
    uint32_t numbers[AGENT_PATTERNS_MAX]; /* the controller's names for them */
    uint64_t values[AGENT_PATTERNS_MAX];
    struct clock_pair began;
    _Atomic uint64_t tick_length; /* 0: not known well yet */
} details;

static uint32_t at_most(uint32_t value, uint32_t most)
{
    return value < most ? value : most;
}

void call_details_begin(struct ring_region *ring, const struct agent_options *options)
{
    details = (struct call_details){
        .ring = ring,
        .stack_bytes = at_most(options->stack_bytes, DETAIL_STACK_BYTES_MAX),
        .string_bytes = at_most(options->string_bytes, DETAIL_STACK_BYTES_MAX),
        .stack_frames = at_most(options->stack_frames, DETAIL_STACK_FRAMES_MAX),
        .began = ring_region_header(ring)->began,
    };
    for (uint32_t i = 0; i < options->pattern_count && i < AGENT_PATTERNS_MAX; i++) {
        const struct agent_pattern *pattern = &options->patterns[i];

        details.numbers[i] = pattern->number;
        details.values[i] = pattern->value;
        details.detailed |= (uint64_t)(pattern->use == AGENT_PATTERN_DETAIL) << i;
        details.triggering |= (uint64_t)(pattern->use == AGENT_PATTERN_TRIGGER_CALL) << i;
        details.slow |= (uint64_t)(pattern->use == AGENT_PATTERN_TRIGGER_SLOW) << i;
        details.stacked |= (uint64_t)(pattern->use == AGENT_PATTERN_STACK) << i;
    }
}

void call_details_end(void)
{
    details = (struct call_details){.ring = NULL};
}

uint64_t call_details_patterns(void)
{
    return details.detailed | details.triggering | details.slow | details.stacked;
}

uint64_t call_details_awaited(void)
{
    return details.detailed | details.slow;
}

uint64_t call_details_stacked(void)
{
    return details.stacked;
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

/* Long enough for both clocks to be compared well; until then, they are compared each time. */
#define COMPARED_NS 1000000000ull
#define FRACTION    32

/* How many nanoseconds a tick of the counter takes, in units of 2^-32. */
static uint64_t tick_length(void)
{
    uint64_t length = atomic_load_explicit(&details.tick_length, memory_order_relaxed), elapsed_ns, ticks;
    struct clock_pair now;
    bool is_long;

    if (length != 0)
        return length;
    now = clock_pair_read();
    elapsed_ns = now.monotonic_ns - details.began.monotonic_ns;
    ticks = now.counter - details.began.counter;
    is_long = elapsed_ns > COMPARED_NS;
    /* So that it can be divided. */
    for (; elapsed_ns >> FRACTION != 0; elapsed_ns /= 2)
        ticks /= 2;
    if (ticks == 0)
        return 0;
    length = (elapsed_ns << FRACTION) / ticks;
    if (is_long)
        atomic_store_explicit(&details.tick_length, length, memory_order_relaxed);
    return length;
}

static uint64_t nanoseconds_of(uint64_t ticks)
{
    return (uint64_t)((wide)ticks * tick_length() >> FRACTION);
}

/* ---- triggers ---------------------------------------------------------------------------------------------------- */

static void trigger(const struct detail_owner *owner, uint32_t kind, uint32_t pattern, uint64_t time, uint64_t value)
{
    trigger_log_add(details.ring, &(struct ring_trigger){
                                      .time = time,
                                      .kind = kind,
                                      .number = details.numbers[pattern],
                                      .tid = owner->tid,
                                      .value = value,
                                  });
}

static void trigger_calls(const struct detail_owner *owner, uint64_t patterns, uint64_t time)
{
    for (uint64_t left = patterns & details.triggering; left != 0; left &= left - 1)
        trigger(owner, RING_TRIGGER_CALL, (uint32_t)__builtin_ctzll(left), time, 0);
}

static void trigger_slow(const struct detail_owner *owner, const struct detailed_call *call, uint64_t time)
{
    uint64_t left = call->patterns & details.slow, took;

    if (left == 0)
        return;
    took = nanoseconds_of(time - call->entered_time);
    for (; left != 0; left &= left - 1) {
        uint32_t pattern = (uint32_t)__builtin_ctzll(left);

        if (took > details.values[pattern])
            trigger(owner, RING_TRIGGER_SLOW, pattern, time, time - call->entered_time);
    }
}

/* ---- entering ---------------------------------------------------------------------------------------------------- */

/* In functions of their own, so that nobody else needs room for values on the stack. */
static __attribute__((noinline)) void tell_enter(struct call_details_thread *own, const struct gait_cpu_context *cpu,
                                                 const struct detailed_call *call, uint32_t depth)
{
    struct detail_enter enter = {
        .record =
            {
                .depth = (uint16_t)depth,
                .time = call->entered_time,
                .function = call->function,
                .sp = call->sp,
            },
        .caller = call->return_address,
        .stack_bytes = details.stack_bytes,
    };
    struct detail_registers registers = {.sp = call->sp};
    uint64_t vectors[CALLING_THREAD_VECTORS];
    uint8_t bytes[DETAIL_STACK_BYTES_MAX];
    struct detail_values values = {bytes, 0};

    for (unsigned i = 0; i < sizeof(enter.arguments) / sizeof(enter.arguments[0]); i++)
        enter.arguments[i] = gait_cpu_argument(cpu, i);
    if (call->declaration != NULL) {
        __builtin_memcpy(registers.arguments, enter.arguments, sizeof(enter.arguments));
        /* Here they are still the program's: nothing of ours uses them. */
        if (detail_declaration_has_vectors(call->declaration, false)) {
            calling_thread_vectors(vectors);
            registers.vectors = vectors;
        }
        values.size_bytes =
            detail_capture_arguments(call->declaration, &registers, details.string_bytes, bytes, sizeof(bytes));
    }
    detail_lane_enter(&own->lane, &enter, values);
}

static bool obtain_walker(struct call_details_thread *own, uint64_t sp)
{
    if (own->walker != NULL || own->has_no_walker)
        return own->walker != NULL;
    own->walker = call_stack_walker_acquire(sp);
    own->has_no_walker = own->walker == NULL;
    if (own->has_no_walker)
        ring_region_note_lack(details.ring);
    return own->walker != NULL;
}

static __attribute__((noinline)) void tell_stack(struct call_details_thread *own, const struct gait_cpu_context *cpu,
                                                 const struct detailed_call *call, uint32_t depth)
{
    struct detail_stack stack = {
        .record =
            {
                .depth = (uint16_t)depth,
                .time = call->entered_time,
                .function = call->function,
                .sp = call->sp,
            },
    };
    uint64_t addresses[DETAIL_STACK_FRAMES_MAX];
    bool goes_on;

    if (!obtain_walker(own, call->sp))
        return;
    stack.frame_count =
        (uint32_t)call_stack_take(own->walker, cpu, call->return_address, addresses, details.stack_frames, &goes_on);
    stack.flags = goes_on ? DETAIL_STACK_GOES_ON : 0;
    detail_lane_stack(&own->lane, &stack, addresses);
}

uint32_t call_details_walk(struct call_details_thread *own, const struct gait_cpu_context *cpu, uint64_t sp,
                           uint64_t *addresses_out)
{
    bool goes_on;

    if (!obtain_walker(own, sp))
        return 0;
    return (uint32_t)call_stack_take(own->walker, cpu, cpu->pc, addresses_out, details.stack_frames, &goes_on);
}

void call_details_enter(struct call_details_thread *own, const struct detail_owner *owner,
                        const struct gait_cpu_context *cpu, const struct detailed_call *call, uint32_t depth)
{
    if (call->patterns & (details.detailed | details.stacked) && detail_lane_open(&own->lane, details.ring, owner)) {
        if (call->patterns & details.detailed)
            tell_enter(own, cpu, call, depth);
        if (call->patterns & details.stacked)
            tell_stack(own, cpu, call, depth);
    }
    trigger_calls(owner, call->patterns, call->entered_time);
}

/* ---- leaving ----------------------------------------------------------------------------------------------------- */

static __attribute__((noinline)) void tell_leave(struct call_details_thread *own, const struct detailed_call *call,
                                                 const struct detail_leave *leave)
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
        values.size_bytes = detail_capture_result(declaration, &result, details.string_bytes, bytes, sizeof(bytes));
    }
    detail_lane_leave(&own->lane, leave, values);
}

void call_details_leave(struct call_details_thread *own, const struct detail_owner *owner,
                        const struct gait_cpu_context *cpu, const struct detailed_call *call, uint32_t depth)
{
    struct detail_leave leave = {
        .record =
            {
                .kind = cpu == NULL ? DETAIL_LEFT : DETAIL_LEAVE,
                .depth = (uint16_t)depth,
                .time = time_counter(),
                .function = call->function,
                .sp = call->sp,
            },
        .entered_time = call->entered_time,
    };

    if (cpu != NULL)
        leave.value = gait_cpu_result(cpu);
    if (call->patterns & details.detailed && detail_lane_open(&own->lane, details.ring, owner))
        tell_leave(own, call, &leave);
    trigger_slow(owner, call, leave.record.time);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

void call_details_thread_ended(struct call_details_thread *own)
{
    detail_lane_close(&own->lane);
    call_stack_walker_release(own->walker);
    own->walker = NULL;
}

void call_details_thread_forgotten(struct call_details_thread *own)
{
    detail_lane_forget(&own->lane);
    call_stack_walker_release(own->walker);
    own->walker = NULL;
}
