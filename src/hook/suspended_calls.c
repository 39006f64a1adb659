/* SPDX-License-Identifier: MIT */
/* Invariant: where no call is suspended and none has a slot below one that is in it, has_stacks may be false. */
#include "hook/suspended_calls.h"

#include "arch/arch.h"
#include "hook/hook_record.h"
#include "hook/hook_thread.h"
#include "hook/stub_knowledge.h"
#include "process/memory_probe.h"

#include <stdatomic.h>
#include <stddef.h>

/* No instruction that calls is longer. */
#define CALL_BYTES_MAX 8u

static uint64_t slot_of(const struct invocation *invocation)
{
    return atomic_load_explicit(&invocation->slot, memory_order_relaxed);
}

static bool is_suspended(const struct invocation *invocation)
{
    return (invocation->flags & INVOCATION_SUSPENDED) != 0;
}

static uint32_t number_of(const struct invocation *invocation)
{
    return invocation->flags >> INVOCATION_STACK_SHIFT;
}

/* Where it never was suspended the stack has no number: 0. */
static void tell(struct hook_thread *thread, const struct invocation *invocation, enum event_record record)
{
    uint32_t stack = is_suspended(invocation) ? number_of(invocation) : 0;

    if (stub_parts(invocation->stub) & HOOK_STUB_RECORD && invocation->depth < 1u << EVENT_STACK_SHIFT)
        hook_record_write(thread, stub_record_number(invocation->stub), record,
                          stack << EVENT_STACK_SHIFT | invocation->depth);
}

static uint32_t next_number(struct hook_thread *thread)
{
    thread->stack_number = thread->stack_number % (EVENT_STACKS_MAX - 1) + 1;
    return thread->stack_number;
}

void suspended_calls_add(struct hook_thread *thread, struct invocation *invocation, struct suspension *suspension)
{
    uint64_t slot = slot_of(invocation);

    if (suspension->number == 0 || slot - suspension->last_slot > SUSPENDED_NEAR_BYTES)
        suspension->number = next_number(thread);
    suspension->last_slot = slot;
    invocation->flags = (invocation->flags & ((1u << INVOCATION_STACK_SHIFT) - 1)) | INVOCATION_SUSPENDED |
                        suspension->number << INVOCATION_STACK_SHIFT;
    thread->has_stacks = true;
    tell(thread, invocation, EVENT_RECORD_SUSPENDED);
    invocation_stack_trim(&thread->invocations);
}

/* The outermost one that is suspended on the stack of that one, or that one. */
static struct invocation *outermost_with(struct hook_thread *thread, struct invocation *invocation)
{
    struct invocation_cursor cursor;
    struct invocation *outermost = invocation, *each;
    bool is_outer = false;

    /* There may be more stacks than numbers, but not so near. */
    invocation_cursor_begin(&cursor, &thread->invocations);
    while ((each = invocation_cursor_next(&cursor)) != NULL) {
        if (is_outer && is_suspended(each) && number_of(each) == number_of(invocation) &&
            slot_of(each) - slot_of(outermost) <= SUSPENDED_NEAR_BYTES)
            outermost = each;
        is_outer |= each == invocation;
    }
    return outermost;
}

struct invocation *suspended_calls_resume(struct hook_thread *thread, struct invocation *invocation)
{
    for (;;) {
        struct invocation *outermost = outermost_with(thread, invocation), *raised;

        raised = invocation_stack_raise(&thread->invocations, outermost);
        if (raised == NULL)
            return NULL;
        tell(thread, raised, EVENT_RECORD_RESUMED);
        raised->flags &= (1u << INVOCATION_STACK_SHIFT) - 1 - INVOCATION_SUSPENDED;
        if (outermost == invocation)
            return raised;
    }
}

static void tell_inherited(void *context, const struct invocation *invocation)
{
    if (!is_suspended(invocation))
        tell(context, invocation, EVENT_RECORD_RESUMED);
}

void suspended_calls_tell_inherited(struct hook_thread *thread)
{
    invocation_stack_visit(&thread->invocations, tell_inherited, thread);
}

void suspended_calls_end(struct hook_thread *thread, struct invocation *invocation)
{
    invocation->depth = invocation_stack_next_depth(&thread->invocations);
    tell(thread, invocation, EVENT_RECORD_RESUMED);
    invocation->flags &= (1u << INVOCATION_STACK_SHIFT) - 1 - INVOCATION_SUSPENDED;
}

struct invocation *suspended_calls_nearest(const struct hook_thread *thread, uint64_t slot)
{
    struct invocation_cursor cursor;
    struct invocation *nearest = NULL, *each;

    invocation_cursor_begin(&cursor, &thread->invocations);
    while ((each = invocation_cursor_next(&cursor)) != NULL)
        if (slot_of(each) >= slot && (nearest == NULL || slot_of(each) < slot_of(nearest))) {
            nearest = each;
            /* On a single stack all others are farther. */
            if (!thread->has_stacks)
                break;
        }
    return nearest;
}

/* ---- watching ---------------------------------------------------------------------------------------------------- */

void suspended_calls_watch(struct hook_thread *thread, uint64_t slot)
{
    struct invocation_cursor cursor;
    const struct invocation *each, *innermost;
    uint64_t ceiling = INVOCATION_NO_SLOT, floor = 0;
    bool has_between = false, has_suspended = false;

    if (!thread->has_stacks)
        return;
    invocation_cursor_begin(&cursor, &thread->invocations);
    innermost = invocation_cursor_next_active(&cursor);
    if (innermost != NULL)
        ceiling = slot_of(innermost);
    invocation_cursor_begin(&cursor, &thread->invocations);
    while ((each = invocation_cursor_next(&cursor)) != NULL) {
        uint64_t other = slot_of(each);

        has_suspended |= is_suspended(each);
        has_between |= slot != 0 && other > slot && other < ceiling;
        if (other < (slot != 0 ? slot : ceiling) && other > floor)
            floor = other;
    }
    thread->has_stacks = has_suspended || floor != 0 || has_between;
    invocation_stack_sink(&thread->invocations);
    /* When the call has returned, there is more to watch for. Without memory that goes by unseen. */
    if (has_between)
        thread->has_stacks |= invocation_stack_fence(&thread->invocations, slot);
    invocation_stack_watch(&thread->invocations, floor);
}

bool suspended_calls_is_first(uint64_t slot)
{
    uint64_t address = *(const uint64_t *)(uintptr_t)slot;
    uint8_t bytes[CALL_BYTES_MAX];
    struct arch_insn insn;

    if (memory_probe_copy(address - sizeof(bytes), bytes, sizeof(bytes)) != 0)
        return true;
    for (unsigned length = 1; length <= sizeof(bytes); length++) {
        const struct app_pc pc = {address - length};

        if (arch_host()->decode(bytes + sizeof(bytes) - length, length, pc, 0, &insn) == 0 && insn.length == length &&
            (insn.flow == ARCH_FLOW_CALL || insn.flow == ARCH_FLOW_CALL_INDIRECT))
            return false;
    }
    return true;
}
