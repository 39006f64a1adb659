/* SPDX-License-Identifier: MIT */
/*
 * A thread's calls that have not returned are in a circle with its state, the innermost last: a signal handler may make
 * others before the interrupted one returns, or never let it return. A call is known by its stack pointer, which
 * nobody else can have while it lasts; those above it in the circle were abandoned. Constant while gates run.
 */
#include "hook/system_call_gate.h"

#include "base/counters.h"
#include "base/memory_map.h"
#include "base/time_counter.h"
#include "hook/hook_thread.h"
#include "hook/suspended_calls.h"

#include <asm/errno.h>
#include <stddef.h>

_Static_assert(offsetof(struct system_call_knowledge, call_at) == CALL_STUB_CALL_AT, "as the gates have it");
_Static_assert(offsetof(struct system_call_knowledge, child_at) == CALL_STUB_CHILD_AT, "as the gates have it");
_Static_assert(offsetof(struct system_call_knowledge, plain_at) == CALL_STUB_PLAIN_AT, "as the gates have it");
_Static_assert(offsetof(struct system_call_knowledge, after) == CALL_STUB_AFTER, "as the gates have it");
_Static_assert(offsetof(struct system_call_frame, result) == CALL_FRAME_RESULT, "as the gates have it");
_Static_assert(offsetof(struct system_call_frame, arguments) == CALL_FRAME_ARGUMENTS, "as the gates have it");
_Static_assert(offsetof(struct system_call_frame, number) == CALL_FRAME_NUMBER, "as the gates have it");
_Static_assert(offsetof(struct system_call_frame, entered_time) == CALL_FRAME_TIME, "as the gates have it");
_Static_assert(offsetof(struct system_call_frame, sp) == CALL_FRAME_SP, "as the gates have it");
_Static_assert(offsetof(struct system_call_frame, stub) == CALL_FRAME_STUB, "as the gates have it");
_Static_assert(offsetof(struct system_call_frame, kind) == CALL_FRAME_KIND, "as the gates have it");
_Static_assert(offsetof(struct system_call_frame, is_elsewhere) == CALL_FRAME_ELSEWHERE, "as the gates have it");
_Static_assert(offsetof(struct system_call_frame, mask) == CALL_FRAME_MASK, "as the gates have it");
_Static_assert(offsetof(struct system_call_frame, kept) == CALL_FRAME_KEPT, "as the gates have it");
_Static_assert(offsetof(struct system_call_frame, registers) == CALL_FRAME_REGISTERS, "as the gates have it");
_Static_assert(offsetof(struct system_call_knowledge, behind) == CALL_STUB_BEHIND, "as the gates have it");
_Static_assert(sizeof(struct system_call_frame) == CALL_FRAME_BYTES, "as the gates have it");

#define KINDS_BYTES 65536u

static struct {
    const struct system_call_watcher *watcher;
    uint8_t *kinds;
} calls;

int system_calls_begin(const struct system_call_watcher *watcher)
{
    void *storage;
    int result = calls.kinds != NULL ? 0 : memory_map(KINDS_BYTES, &storage);

    if (result != 0)
        return result;
    if (calls.kinds == NULL)
        calls.kinds = storage;
    calls.watcher = watcher;
    return 0;
}

void system_calls_end(void)
{
    if (calls.kinds != NULL)
        memory_unmap(calls.kinds, KINDS_BYTES);
    calls.kinds = NULL;
    calls.watcher = NULL;
}

uint8_t *system_call_kinds(void)
{
    return calls.kinds;
}

static struct hook_thread_call *call_at(const struct hook_thread *thread, uint32_t which)
{
    return &thread->calls[which % HOOK_THREAD_CALLS_MAX];
}

static void push(struct hook_thread *thread, const struct system_call_frame *frame)
{
    *call_at(thread, thread->call_next++) = (struct hook_thread_call){
        .sp = frame->sp,
        .time = frame->entered_time,
        .number = frame->number,
        .note = frame->note,
    };
}

/* Takes it out, with those that it was abandoned by. False: nobody knows it. */
static bool pop(struct hook_thread *thread, struct system_call_frame *frame)
{
    uint32_t next = thread->call_next;

    for (uint32_t i = 1; i <= HOOK_THREAD_CALLS_MAX; i++) {
        struct hook_thread_call *call = call_at(thread, next - i);

        if (call->sp != frame->sp)
            continue;
        frame->entered_time = call->time;
        frame->number = call->number;
        frame->note = call->note;
        thread->call_next = next - i;
        return true;
    }
    return false;
}

/* The slow way in: the first one of a thread, of a child that was forked, and all that are special. */
unsigned system_call_gate_entered(struct system_call_frame *frame)
{
    uint64_t mask = hook_signals_block();
    bool is_forked;
    struct hook_thread *thread = hook_thread_obtain(&is_forked);
    const struct system_call_watcher *watcher = calls.watcher;
    unsigned made = CALL_MADE_TOLD;

    if (thread != NULL && is_forked && hook_threads_options()->forked != NULL) {
        hook_threads_options()->forked();
        suspended_calls_tell_inherited(thread);
    }
    /* Where it begins is looked for once: calls from its own stack need no other. */
    if (thread != NULL && thread->own_bytes == 0 && frame->is_elsewhere)
        (void)hook_thread_is_on_own_stack(thread, frame->sp);
    if (thread == NULL || watcher == NULL) {
        counter_add(COUNTER_system_calls_untracked, thread == NULL);
        made = CALL_MADE_UNTOLD;
    } else {
        frame->entered_time = time_counter();
        frame->note = 0;
        if (frame->kind == CALL_KIND_SPECIAL)
            made = watcher->enters(thread, frame);
        if (made == CALL_MADE_TOLD || made == CALL_MADE_BY_CHILD)
            push(thread, frame);
    }
    hook_signals_unblock(mask);
    return made;
}

void system_call_gate_left(struct hook_thread *thread, struct system_call_frame *frame)
{
    const struct system_call_watcher *watcher = calls.watcher;

    if (watcher == NULL)
        return;
    if (pop(thread, frame))
        watcher->left(thread, frame);
    else
        counter_add(COUNTER_system_calls_untracked, 1);
}

/* The thread cannot be found by the gate, as it could not when the call was made; or the program has changed that. */
void system_call_gate_left_unknown(struct system_call_frame *frame)
{
    struct hook_thread *thread = hook_thread_current();

    if (thread != NULL)
        system_call_gate_left(thread, frame);
    else
        counter_add(COUNTER_system_calls_untracked, 1);
}
