/* SPDX-License-Identifier: MIT */
/*
 * A call is under way as long as its slot has its landing, or its return address while an unwinder is shown that. When
 * something else is there, it is over. When the landing is still there, it may be over all the same: nobody has used
 * that memory since. On the thread's own stack that is known by its being below what is in use; on other stacks it is
 * taken to be under way. Who is wrong about that loses nothing but the order of events: what is dropped is remembered
 * (invocation_grave.h), and found when it returns.
 *
 * A thread may have several stacks, some of them within frames of others. A function is on the stack of the call that
 * is nearest above it, unless it begins one: then nobody called it, or it is far from all that is known. A stack that
 * is begun, or gone on with, is in what was innermost, as if that had called it. When the thread is back on the stack
 * of a call, what is in that, under way and not on its stack, is suspended.
 *
 * A function that jumps to another one at its end shares its slot: the second finds the first's landing there, as its
 * own return address. Both are under way then, and return one after the other, through both landings. So that a
 * loop of functions that jump to each other stays bounded, CHAIN_MOST of them do; then the last one gives way.
 */
#include "hook/return_tracking.h"

#include "base/counters.h"
#include "hook/call_data.h"
#include "hook/hook_record.h"
#include "hook/hook_thread.h"
#include "hook/invocation_grave.h"
#include "hook/listener_call.h"
#include "hook/stub_knowledge.h"
#include "hook/suspended_calls.h"
#include "process/memory_probe.h"

#include <stdatomic.h>
#include <stddef.h>

#define CHAIN_MOST 64u

/* No smaller is a stack that lies within a frame of another one. */
#define STACK_BYTES_LEAST (16u << 10)

/* So many suspended calls are looked at, whether they are over, where something is unwound. */
#define LOOKED_AT_MOST 16u

static uint64_t slot_of(const struct invocation *invocation)
{
    return atomic_load_explicit(&invocation->slot, memory_order_relaxed);
}

static struct invocation *innermost_of(const struct hook_thread *thread)
{
    struct invocation_cursor cursor;

    invocation_cursor_begin(&cursor, &thread->invocations);
    return invocation_cursor_next_active(&cursor);
}

static bool is_suspended(const struct invocation *invocation)
{
    return (invocation->flags & INVOCATION_SUSPENDED) != 0;
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

/* It will not return, as far as is known. */
static void tell_unwound(struct hook_thread *thread, struct invocation *invocation)
{
    uint32_t parts = stub_parts(invocation->stub);

    if (parts & HOOK_STUB_UNWINDER) {
        call_data_give_back(thread, invocation->data);
        return;
    }
    if (parts & HOOK_STUB_RECORD)
        hook_record_write(thread, stub_record_number(invocation->stub), EVENT_RECORD_UNWOUND, invocation->depth);
    if (parts & HOOK_STUB_LISTEN && invocation->data != NULL) {
        uint8_t before = hook_thread_ignoring(thread, HOOK_IGNORING_LISTENER);

        hook_thread_set_ignoring(thread, HOOK_IGNORING_LISTENER, HOOK_LISTENING_UNWOUND);
        listener_call_unwound(thread, invocation);
        invocation->data = NULL;
        hook_thread_set_ignoring(thread, HOOK_IGNORING_LISTENER, before);
    }
}

static void drop(struct hook_thread *thread, struct invocation *invocation)
{
    invocation_grave_add(invocation);
    if (is_suspended(invocation))
        suspended_calls_end(thread, invocation);
    tell_unwound(thread, invocation);
    invocation_stack_remove(&thread->invocations, invocation);
}

/* ---- under way or over ------------------------------------------------------------------------------------------- */

static bool read_word(struct hook_thread *thread, uint64_t place, uint64_t *word_out)
{
    /* It was written once, and stays mapped as long as the thread lives. */
    if (own_stack_has_one(&thread->own_stack, place)) {
        *word_out = *(const uint64_t *)(uintptr_t)place;
        return true;
    }
    return memory_probe_copy(place, word_out, sizeof(*word_out)) == 0;
}

static bool are_on_own_stack(struct hook_thread *thread, uint64_t a, uint64_t b)
{
    return own_stack_has(&thread->own_stack, thread->thread_pointer, a, b);
}

/* Whether an invocation, the innermost one of its slot, is over; the thread is at `sp`. */
static bool is_over(struct hook_thread *thread, const struct invocation *invocation, uint64_t sp)
{
    uint64_t slot = slot_of(invocation), word, expected;

    if (invocation->flags & INVOCATION_UNWINDER)
        return !own_stack_is_signal_stack(sp, slot);
    expected = invocation->flags & INVOCATION_RESTORED ? return_tracking_caller(thread, invocation)
                                                       : invocation_landing(invocation);
    if (!read_word(thread, slot, &word) || word != expected)
        return true;
    return slot < sp && are_on_own_stack(thread, slot, sp) && !own_stack_is_signal_stack(sp, slot);
}

bool return_tracking_is_under_way(struct hook_thread *thread, const struct invocation *invocation, uint64_t sp)
{
    return !is_over(thread, invocation, sp);
}

/* How many functions that jumped to another one are under way at the slot. */
static unsigned chain_length(struct hook_thread *thread, uint64_t slot)
{
    struct invocation_cursor cursor;
    const struct invocation *invocation;
    unsigned length = 0;

    invocation_cursor_begin(&cursor, &thread->invocations);
    while ((invocation = invocation_cursor_next(&cursor)) != NULL && slot_of(invocation) == slot)
        length++;
    return length;
}

/* Where one goes that is before the cursor's next, through the functions that jumped to it. */
static uint64_t caller_from(struct invocation_cursor cursor, uint64_t slot, uint64_t address)
{
    const struct invocation *outer;

    while ((outer = invocation_cursor_next(&cursor)) != NULL && slot_of(outer) == slot &&
           invocation_landing(outer) == address)
        address = outer->return_address;
    return address;
}

uint64_t return_tracking_caller(struct hook_thread *thread, const struct invocation *invocation)
{
    struct invocation_cursor cursor;
    uint64_t slot = slot_of(invocation);
    const struct invocation *each;

    invocation_cursor_begin(&cursor, &thread->invocations);
    if (slot >= INVOCATION_NO_SLOT)
        return caller_from(cursor, ~slot, invocation->return_address);
    while ((each = invocation_cursor_next(&cursor)) != NULL)
        if (each == invocation)
            break;
    return caller_from(cursor, slot, invocation->return_address);
}

/* ---- entering ---------------------------------------------------------------------------------------------------- */

/* The function that jumped here gives way: it is told as left, and its return address is the one of who comes. */
static void replace_jumper(struct hook_thread *thread, struct invocation *jumper)
{
    uint64_t slot = slot_of(jumper);

    *(uint64_t *)(uintptr_t)slot = jumper->return_address;
    tell_unwound(thread, jumper);
    invocation_stack_remove(&thread->invocations, jumper);
}

static bool is_jumper_to(const struct invocation *invocation, uint64_t slot)
{
    return slot_of(invocation) == slot && *(const uint64_t *)(uintptr_t)slot == invocation_landing(invocation);
}

/* Drops what is over, or has jumped once too often, of the innermost calls. Returns the first that is not, or NULL. */
static struct invocation *drop_over(struct hook_thread *thread, uint64_t slot)
{
    bool is_unwound = false;
    struct invocation *top;

    invocation_stack_trim(&thread->invocations);
    for (top = innermost_of(thread); top != NULL && slot_of(top) <= slot; top = innermost_of(thread)) {
        bool is_jumper = is_jumper_to(top, slot);

        if (is_jumper ? chain_length(thread, slot) < CHAIN_MOST : !is_over(thread, top, slot))
            break;
        is_unwound |= top->flags & (INVOCATION_UNWINDER | INVOCATION_RESTORED);
        if (is_jumper)
            replace_jumper(thread, top);
        else
            drop(thread, top);
    }
    if (is_unwound)
        return_tracking_resume(thread, slot + 1);
    return top;
}

/* Whether a call has a landing in its slot that is another one's by now, or none. */
static bool is_overwritten(struct hook_thread *thread, const struct invocation *invocation)
{
    uint64_t word;

    if (invocation->flags & (INVOCATION_UNWINDER | INVOCATION_RESTORED))
        return false;
    return !read_word(thread, slot_of(invocation), &word) || word != invocation_landing(invocation);
}

/* The call whose stack a function is on that was entered there, as it seems. NULL: none. */
static struct invocation *find_outer(struct hook_thread *thread, uint64_t slot)
{
    struct invocation *nearest;

    for (uint64_t from = slot; (nearest = suspended_calls_nearest(thread, from)) != NULL;) {
        bool is_gone = slot_of(nearest) == slot ? !is_jumper_to(nearest, slot) : is_overwritten(thread, nearest);

        if (!is_gone && (!is_suspended(nearest) || slot_of(nearest) - slot <= SUSPENDED_NEAR_BYTES))
            return nearest;
        from = slot_of(nearest) + 1;
        if (is_gone && is_suspended(nearest))
            drop(thread, nearest);
    }
    return NULL;
}

/* Resumes a call, and drops what was in it on its stack below the slot: nobody returned from that. NULL: no memory. */
static struct invocation *resume(struct hook_thread *thread, struct invocation *invocation, uint64_t slot)
{
    uint32_t flags = invocation->flags;
    struct invocation_cursor cursor;
    struct invocation *inner;

    invocation_cursor_begin(&cursor, &thread->invocations);
    while ((inner = invocation_cursor_next(&cursor)) != NULL && inner != invocation)
        if (inner->flags == flags && slot_of(inner) < slot && slot - slot_of(inner) <= SUSPENDED_STACK_BYTES)
            drop(thread, inner);
    return suspended_calls_resume(thread, invocation);
}

/* Of stacks that are never gone back to somebody makes others: drops calls that are over, looking at some at a time. */
static void drop_some_suspended(struct hook_thread *thread, unsigned most)
{
    unsigned looked_at = 0, count = 0;
    struct invocation_cursor cursor;
    struct invocation *each;
    uint64_t last_slot = 0;

    invocation_cursor_begin(&cursor, &thread->invocations);
    while ((each = invocation_cursor_next(&cursor)) != NULL && looked_at < most) {
        /* Of functions that jumped to another one the innermost one tells. */
        bool is_jumper = slot_of(each) == last_slot;

        last_slot = slot_of(each);
        if (!is_suspended(each) || count++ < thread->suspended_seen)
            continue;
        looked_at++;
        if (!is_jumper && is_overwritten(thread, each))
            drop(thread, each);
        else
            thread->suspended_seen++;
    }
    if (looked_at < most)
        thread->suspended_seen = 0;
}

/* Whether a place is far above calls that are under way, so that what is there may be a stack in a frame of `outer`. */
static bool is_far_above(struct hook_thread *thread, const struct invocation *outer, uint64_t slot)
{
    const struct invocation *lowest = NULL, *each;
    struct invocation_cursor cursor;

    invocation_cursor_begin(&cursor, &thread->invocations);
    while ((each = invocation_cursor_next_active(&cursor)) != NULL && each != outer)
        if (slot_of(each) < slot && are_on_own_stack(thread, slot_of(each), slot) &&
            (lowest == NULL || slot_of(each) != slot_of(lowest)))
            lowest = each;
    return lowest != NULL && slot_of(lowest) + STACK_BYTES_LEAST <= slot && !is_overwritten(thread, lowest);
}

/* Drops or suspends what is in a call, or, if that is NULL, below the slot: the thread has come back to its stack. */
static void suspend_inner(struct hook_thread *thread, const struct invocation *outer, uint64_t slot)
{
    struct suspension suspension = {0};
    struct invocation *top;

    while ((top = drop_over(thread, slot)) != NULL && top != outer && !is_jumper_to(top, slot)) {
        /* Of functions that jumped to another one the innermost one tells. */
        bool is_jumper = suspension.number != 0 && slot_of(top) == suspension.last_slot;

        if (outer == NULL && slot_of(top) > slot)
            return;
        if (!is_jumper && is_overwritten(thread, top))
            drop(thread, top);
        else
            suspended_calls_add(thread, top, &suspension);
    }
    if (suspension.number != 0)
        drop_some_suspended(thread, 1);
}

/* A function was entered, perhaps on another stack than the innermost call. False: no memory. */
static bool change_stacks(struct hook_thread *thread, uint64_t slot)
{
    struct invocation *outer = find_outer(thread, slot), *top;
    bool is_first;

    invocation_stack_trim(&thread->invocations);
    top = innermost_of(thread);
    if (outer == top && (top == NULL || slot_of(top) > slot))
        return true;
    is_first = top != NULL && (outer == NULL || slot_of(outer) != slot) &&
               (own_stack_is_signal_stack(slot, slot_of(top)) || suspended_calls_is_first(slot));
    if (!is_first && outer != NULL && is_suspended(outer))
        return resume(thread, outer, slot) != NULL;
    if (!is_first && !is_far_above(thread, outer, slot)) {
        suspend_inner(thread, outer, slot);
        return true;
    }
    thread->has_stacks = true;
    return invocation_stack_mark(&thread->invocations);
}

struct invocation *return_tracking_enter(struct hook_thread *thread, uint64_t slot, uint64_t stub)
{
    if (!change_stacks(thread, slot))
        return NULL;
    suspended_calls_watch(thread, slot);
    return invocation_stack_push(&thread->invocations, slot, *(const uint64_t *)(uintptr_t)slot, stub);
}

void return_tracking_settle(struct hook_thread *thread, uint64_t slot)
{
    (void)drop_over(thread, slot);
    drop_some_suspended(thread, LOOKED_AT_MOST);
    suspended_calls_watch(thread, 0);
    return_tracking_resume(thread, slot + 1);
}

/* ---- leaving ----------------------------------------------------------------------------------------------------- */

static void copy_out(const struct invocation *from, uint64_t slot, struct invocation *out)
{
    out->return_address = from->return_address;
    out->stub = from->stub;
    out->data = from->data;
    out->depth = from->depth;
    out->flags = from->flags;
    /* As one has it that was popped. */
    atomic_store_explicit(&out->slot, ~slot, memory_order_relaxed);
}

/* Whether a signal handler that it is in has been left: the thread is not on the stack for signals any more. */
static bool is_in_left_handler(const struct invocation *invocation, uint64_t slot)
{
    return own_stack_is_signal_stack(slot_of(invocation), slot);
}

/*
 * What was entered since is over, or suspended, if it is on another stack. Of functions that jumped to another one, the
 * last one tells.
 */
static void drop_inner(struct hook_thread *thread, const struct invocation *own, uint64_t slot)
{
    struct suspension suspension = {0};
    struct invocation_cursor cursor;
    struct invocation *inner;
    uint64_t alive_slot = 0;
    bool is_unwound = false;

    invocation_cursor_begin(&cursor, &thread->invocations);
    while ((inner = invocation_cursor_next(&cursor)) != NULL && inner != own) {
        /* Of those that are suspended already only what was in a frame that is gone is known to be over. */
        if (is_suspended(inner) && !are_on_own_stack(thread, slot_of(inner), slot))
            continue;
        if (slot_of(inner) != alive_slot &&
            (slot_of(inner) == slot || is_over(thread, inner, slot + 1) || is_in_left_handler(inner, slot))) {
            is_unwound |= inner->flags & (INVOCATION_UNWINDER | INVOCATION_RESTORED);
            drop(thread, inner);
            continue;
        }
        alive_slot = slot_of(inner);
        if (!is_suspended(inner))
            suspended_calls_add(thread, inner, &suspension);
    }
    if (suspension.number != 0)
        drop_some_suspended(thread, 1);
    if (is_unwound)
        return_tracking_resume(thread, slot + 1);
}

static bool take_from_others(uint64_t slot, uint64_t stub, struct invocation *out)
{
    struct invocation *found = NULL;
    struct hook_thread *thread;

    if (hook_threads_lock() != 0)
        return false;
    for (uint32_t i = 0; found == NULL && (thread = hook_thread_at(i)) != NULL; i++) {
        found = invocation_stack_find(&thread->invocations, slot, stub);
        if (found != NULL) {
            copy_out(found, slot, out);
            if (!invocation_take(found, slot))
                found = NULL;
        }
    }
    hook_threads_unlock();
    return found != NULL;
}

/* Any call of the same function: most are called from few places. */
static uint64_t guess(uint64_t stub)
{
    struct hook_thread *thread;

    for (uint32_t i = 0; (thread = hook_thread_at(i)) != NULL; i++) {
        struct invocation_cursor cursor;
        const struct invocation *invocation;

        invocation_cursor_begin(&cursor, &thread->invocations);
        while ((invocation = invocation_cursor_next(&cursor)) != NULL)
            if (invocation->stub == stub)
                return invocation->return_address;
    }
    return 0;
}

static void leave_given_up(uint64_t slot, uint64_t stub, struct invocation *out)
{
    *out = (struct invocation){.stub = stub};
    atomic_store_explicit(&out->slot, ~slot, memory_order_relaxed);
    if (invocation_grave_find(slot, stub, true, &out->return_address))
        return;
    counter_add(COUNTER_hook_returns_guessed, 1);
    out->return_address = guess(stub);
}

void return_tracking_leave_unknown(uint64_t slot, uint64_t stub, struct invocation *out)
{
    if (!take_from_others(slot, stub, out))
        leave_given_up(slot, stub, out);
    out->data = NULL;
}

/* Makes the call the innermost one. */
static struct invocation *prepare_to_leave(struct hook_thread *thread, struct invocation *own, uint64_t slot)
{
    struct invocation *resumed;

    if (!is_suspended(own)) {
        drop_inner(thread, own, slot);
        return own;
    }
    resumed = resume(thread, own, slot);
    return resumed != NULL ? resumed : own;
}

bool return_tracking_leave(struct hook_thread *thread, uint64_t slot, uint64_t stub, struct invocation *out)
{
    struct invocation *own = invocation_stack_find(&thread->invocations, slot, stub);
    const struct invocation *popped;

    if (own != NULL) {
        own = prepare_to_leave(thread, own, slot);
        copy_out(own, slot, out);
        invocation_stack_remove(&thread->invocations, own);
        suspended_calls_watch(thread, 0);
        return true;
    }
    if (take_from_others(slot, stub, out))
        return true;
    *out = (struct invocation){.stub = stub};
    if (invocation_grave_find(slot, stub, false, &out->return_address))
        return false;
    popped = invocation_stack_find_popped(&thread->invocations, slot, stub);
    if (popped != NULL) {
        copy_out(popped, slot, out);
        out->data = NULL;
        return false;
    }
    leave_given_up(slot, stub, out);
    return false;
}

/* ---- unwinders --------------------------------------------------------------------------------------------------- */

static void put_back(struct hook_thread *thread)
{
    struct invocation_cursor cursor;
    struct invocation *invocation;
    uint64_t last_slot = 0, word;
    bool is_restored = false;

    invocation_cursor_begin(&cursor, &thread->invocations);
    while ((invocation = invocation_cursor_next(&cursor)) != NULL) {
        uint64_t slot = slot_of(invocation);

        if (invocation->flags & (INVOCATION_UNWINDER | INVOCATION_RESTORED))
            continue;
        if (slot != last_slot) {
            is_restored = read_word(thread, slot, &word) && word == invocation_landing(invocation);
            if (is_restored)
                *(uint64_t *)(uintptr_t)slot = caller_from(cursor, slot, invocation->return_address);
        }
        last_slot = slot;
        if (is_restored)
            invocation->flags |= INVOCATION_RESTORED;
    }
}

struct invocation *return_tracking_unwind(struct hook_thread *thread, uint64_t slot, uint64_t stub)
{
    struct invocation *unwinder = return_tracking_enter(thread, slot, stub);

    if (unwinder == NULL)
        return NULL;
    unwinder->flags |= INVOCATION_UNWINDER;
    put_back(thread);
    return unwinder;
}

void return_tracking_redirect_unwinder(struct invocation *unwinder)
{
    *(uint64_t *)(uintptr_t)slot_of(unwinder) = invocation_landing(unwinder);
    unwinder->flags &= ~(uint32_t)INVOCATION_UNWINDER;
}

void return_tracking_resume(struct hook_thread *thread, uint64_t sp)
{
    struct invocation_cursor cursor;
    struct invocation *invocation;
    uint64_t last_slot = 0, word;
    bool is_redirected = false;

    invocation_cursor_begin(&cursor, &thread->invocations);
    while ((invocation = invocation_cursor_next(&cursor)) != NULL) {
        uint64_t slot = slot_of(invocation);

        if ((invocation->flags & INVOCATION_RESTORED) == 0)
            continue;
        if (slot != last_slot) {
            is_redirected = slot >= sp && read_word(thread, slot, &word) &&
                            word == caller_from(cursor, slot, invocation->return_address);
            if (is_redirected)
                *(uint64_t *)(uintptr_t)slot = invocation_landing(invocation);
        }
        last_slot = slot;
        if (is_redirected)
            invocation->flags &= ~(uint32_t)INVOCATION_RESTORED;
    }
}

bool return_tracking_find(struct hook_thread *thread, uint64_t slot, uint64_t landing, uint64_t *return_address_out)
{
    struct invocation_cursor cursor;
    const struct invocation *invocation;

    invocation_cursor_begin(&cursor, &thread->invocations);
    while ((invocation = invocation_cursor_next(&cursor)) != NULL)
        if (slot_of(invocation) == slot && invocation_landing(invocation) == landing) {
            *return_address_out = invocation->return_address;
            return true;
        }
    return false;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* The function that it calls for each frame is ours until it is done. */
static bool is_walking(struct hook_thread *thread)
{
    struct invocation_cursor cursor;
    const struct invocation *invocation;

    invocation_cursor_begin(&cursor, &thread->invocations);
    while ((invocation = invocation_cursor_next(&cursor)) != NULL)
        if (stub_parts(invocation->stub) & HOOK_STUB_UNWINDER && invocation->data != NULL)
            return true;
    return false;
}

bool return_tracking_leave_all(void)
{
    struct hook_thread *thread;

    for (uint32_t i = 0; (thread = hook_thread_at(i)) != NULL; i++)
        if (is_walking(thread))
            return false;
    for (uint32_t i = 0; (thread = hook_thread_at(i)) != NULL; i++) {
        /* Some may be dead, and their stacks gone. */
        hook_thread_forget_stack(thread);
        put_back(thread);
        invocation_stack_clear(&thread->invocations);
    }
    return true;
}
