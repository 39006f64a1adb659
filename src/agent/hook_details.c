/* SPDX-License-Identifier: MIT */
/* What is to be known when a call ends is kept with the call. A thread's lane and walker are kept with its state. */
#include "agent/hook_details.h"

#include "agent/call_details.h"
#include "agent/call_stack.h"
#include "base/memory_map.h"
#include "base/slab.h"
#include "base/time_counter.h"
#include "hook/hook_thread.h"
#include "hook/return_tracking.h"
#include "hook/system_call_stub.h"
#include "protocol/agent_call.h"
#include "ring/ring_region.h"
#include "ring/ring_writer.h"
#include "unwind/hooked_frames.h"

/* A function, as its listener knows it. */
struct detailed_function {
    uint64_t patterns;
    const struct detail_declaration *declaration;
};

/* What is kept of a call. */
struct kept_call {
    uint64_t entered_time;
    uint64_t sp;
};

_Static_assert(sizeof(struct kept_call) <= GAIT_INVOCATION_DATA_BYTES, "fits into the data of a call");

static struct hook_details {
    struct ring_region *ring;
    struct slab memory;
} hooked;

static const _Atomic uint32_t never;

/*
 * The walk comes to what a hook has put in the place of a return address; or to a system call that a signal has
 * interrupted.
 */
static bool undo_hook(void *context, struct hooked_place *place)
{
    struct hook_thread *thread = hook_thread_current();

    (void)context;
    if (place->is_exact)
        return system_call_stub_undo(place->pc, &place->pc);
    return thread != NULL && return_tracking_find(thread, place->sp - sizeof(uint64_t), place->pc, &place->pc);
}

int hook_details_begin(struct ring_region *ring, const struct agent_options *options)
{
    static const struct hooked_frames frames = {.undo = undo_hook};

    call_details_begin(ring, options);
    slab_init(&hooked.memory, 0);
    hooked.ring = ring;
    return options->stack_frames == 0 ? 0 : call_stack_begin(&frames);
}

void hook_details_end(void)
{
    if (hooked.ring == NULL)
        return;
    slab_deinit(&hooked.memory);
    call_details_end();
    hooked.ring = NULL;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static struct call_details_thread *obtain(struct hook_thread *thread)
{
    void *storage;

    if (thread->details != NULL)
        return thread->details;
    if (memory_map(sizeof(struct call_details_thread), &storage) == 0)
        thread->details = storage;
    else
        ring_region_note_lack(hooked.ring);
    return thread->details;
}

void hook_details_thread_ended(struct hook_thread *thread)
{
    if (thread->details == NULL)
        return;
    call_details_thread_ended(thread->details);
    memory_unmap(thread->details, sizeof(struct call_details_thread));
    thread->details = NULL;
}

void hook_details_thread_forgotten(struct hook_thread *thread)
{
    if (thread->details == NULL)
        return;
    call_details_thread_forgotten(thread->details);
    memory_unmap(thread->details, sizeof(struct call_details_thread));
    thread->details = NULL;
}

void hook_details_end_threads(void)
{
    struct hook_thread *thread;

    for (uint32_t i = 0; hooked.ring != NULL && (thread = hook_thread_at(i)) != NULL; i++)
        hook_details_thread_ended(thread);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static struct detail_owner owner_of(const struct hook_thread *thread)
{
    return (struct detail_owner){.tid = thread->tid, .serial = thread->serial, .give_up = &never};
}

/* If this was its first lane, others will be of the same thread. */
static void note_serial(struct hook_thread *thread, const struct call_details_thread *own)
{
    if (thread->serial == 0 && own->lane.writer != NULL)
        thread->serial = own->lane.writer->serial;
}

/* Signals are blocked while it is made: a handler could want it as well. */
static struct detail_lane *open_lane(struct hook_thread *thread)
{
    struct detail_owner owner = owner_of(thread);
    uint64_t mask = hook_signals_block();
    struct call_details_thread *own = obtain(thread);
    bool is_open = own != NULL && detail_lane_open(&own->lane, hooked.ring, &owner);

    if (is_open)
        note_serial(thread, own);
    hook_signals_unblock(mask);
    return is_open ? &own->lane : NULL;
}

struct detail_lane *hook_details_lane(struct hook_thread *thread)
{
    struct call_details_thread *own = thread->details;

    if (own != NULL && own->lane.writer != NULL)
        return &own->lane;
    return hooked.ring == NULL ? NULL : open_lane(thread);
}

uint32_t *hook_details_call_counts(struct hook_thread *thread)
{
    struct call_details_thread *own = hooked.ring == NULL ? NULL : obtain(thread);

    return own == NULL ? NULL : own->call_counts;
}

uint32_t hook_details_walk(struct hook_thread *thread, const struct system_call_frame *frame, uint64_t *addresses_out)
{
    struct call_details_thread *own = hooked.ring == NULL ? NULL : obtain(thread);
    struct gait_cpu_context cpu;

    if (own == NULL || system_call_stub_context(frame, &cpu) != 0)
        return 0;
    return call_details_walk(own, &cpu, frame->sp, addresses_out);
}

static struct detailed_call call_of(const struct gait_invocation *invocation)
{
    const struct detailed_function *function = invocation->data;

    return (struct detailed_call){
        .function = invocation->function,
        .return_address = invocation->return_address,
        .patterns = function->patterns,
        .declaration = function->declaration,
    };
}

static void entered(struct gait_invocation *invocation)
{
    struct hook_thread *thread = hook_thread_current();
    struct call_details_thread *own = thread == NULL ? NULL : obtain(thread);
    struct kept_call *kept = invocation->call_data;
    struct detailed_call call = call_of(invocation);
    struct detail_owner owner;

    if (own == NULL)
        return;
    owner = owner_of(thread);
    call.sp = gait_cpu_stack_pointer(invocation->cpu);
    call.entered_time = time_counter();
    if (kept != NULL)
        *kept = (struct kept_call){call.entered_time, call.sp};
    call_details_enter(own, &owner, invocation->cpu, &call, invocation->depth);
    note_serial(thread, own);
}

static void left(struct gait_invocation *invocation)
{
    struct hook_thread *thread = hook_thread_current();
    struct call_details_thread *own = thread == NULL ? NULL : obtain(thread);
    const struct kept_call *kept = invocation->call_data;
    struct detailed_call call = call_of(invocation);
    struct detail_owner owner;

    if (own == NULL || kept == NULL || kept->entered_time == 0)
        return;
    owner = owner_of(thread);
    call.sp = kept->sp;
    call.entered_time = kept->entered_time;
    call_details_leave(own, &owner, invocation->point == GAIT_INVOCATION_UNWOUND ? NULL : invocation->cpu, &call,
                       invocation->depth);
}

bool hook_details_listener(uint64_t patterns, const struct detail_declaration *declaration,
                           struct hook_listener *listener_out)
{
    struct detailed_function *known = slab_allocate_zeroed(&hooked.memory, sizeof(*known), _Alignof(uint64_t));

    if (known == NULL)
        return false;
    *known = (struct detailed_function){patterns, declaration};
    *listener_out = (struct hook_listener){
        .enter = entered,
        .leave = patterns & call_details_awaited() ? left : NULL,
        .data = known,
        .flags = HOOK_LISTENER_GENERAL_ONLY | HOOK_LISTENER_UNWOUND,
    };
    return true;
}
