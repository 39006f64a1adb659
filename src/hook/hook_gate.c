/* SPDX-License-Identifier: MIT */
/*
 * The slow way. Invariant: from hook_gate_find to hook_gate_unblock all signals of the thread are blocked; while
 * listeners run it ignores calls instead, until the gate is back on the program's stack.
 */
#include "hook/hook_gate.h"

#include "arch/context_layout.h"
#include "arch/engine.h"
#include "base/counters.h"
#include "base/raw_syscall.h"
#include "hook/call_data.h"
#include "hook/call_slot.h"
#include "hook/go/goroutine.h"
#include "hook/hook_record.h"
#include "hook/hook_thread.h"
#include "hook/listener_call.h"
#include "hook/quiescence.h"
#include "hook/return_tracking.h"
#include "hook/stub_knowledge.h"
#include "hook/suspended_calls.h"

#include <asm/unistd.h>
#include <linux/prctl.h>
#include <stdatomic.h>
#include <stddef.h>

_Static_assert(offsetof(struct hook_gate_frame, thread) == HOOK_FRAME_THREAD, "as the gates have it");
_Static_assert(offsetof(struct hook_gate_frame, kind) == HOOK_FRAME_KIND, "as the gates have it");
_Static_assert(offsetof(struct hook_gate_frame, outcome) == HOOK_FRAME_OUTCOME, "as the gates have it");
_Static_assert(offsetof(struct hook_gate_frame, saved) == HOOK_FRAME_REGISTERS, "as the gates have it");
_Static_assert(offsetof(struct gait_cpu_context, pc) == CONTEXT_PC, "as the gates have it");
_Static_assert(offsetof(struct gait_cpu_context, flags) == CONTEXT_FLAGS, "as the gates have it");

/* Between a frame and what the gates have on the stack below it. */
#define STACK_IN_USE_BYTES 256

/* Where its call of the entering gate returns to. */
static uint64_t stub_of(const struct hook_gate_frame *frame)
{
    return frame->kind == HOOK_GATE_LEAVE ? frame->stub - STUB_LEFT : frame->stub;
}

/* The program's stack pointer. */
static uint64_t sp_of(const struct hook_gate_frame *frame)
{
    return frame->saved.registers[GAIT_CPU_STACK_POINTER];
}

static uint64_t slot_of(const struct hook_gate_frame *frame)
{
    return frame->kind == HOOK_GATE_LEAVE ? call_slot_of_left(sp_of(frame)) : sp_of(frame);
}

/* Where a function that has returned goes on. */
static void return_to(struct hook_gate_frame *frame, uint64_t address)
{
    *call_slot_return(frame->saved.registers, slot_of(frame)) = address;
}

static bool is_on_listeners_stack(const struct hook_thread *thread, uint64_t sp)
{
    return sp - thread->stack_low < thread->stack_top - thread->stack_low;
}

/*
 * Listeners that were left by a jump out of a signal handler: the thread is neither on their stack nor in a handler
 * that interrupts them, or the gate that calls them.
 */
static bool is_listener_abandoned(const struct hook_thread *thread, const struct hook_gate_frame *frame)
{
    uint64_t sp = sp_of(frame);

    if (is_on_listeners_stack(thread, sp))
        return false;
    if (hook_thread_ignoring(thread, HOOK_IGNORING_LISTENER) == HOOK_LISTENING_GATE && sp <= thread->gate_sp)
        return false;
    return !own_stack_is_signal_stack(sp, thread->gate_sp);
}

static bool is_ignoring(struct hook_thread *thread, const struct hook_gate_frame *frame)
{
    if (hook_thread_ignoring(thread, HOOK_IGNORING_LISTENER) != 0 && is_listener_abandoned(thread, frame)) {
        hook_thread_set_ignoring(thread, HOOK_IGNORING_LISTENER, 0);
        hook_busy_end(thread);
    }
    return atomic_load_explicit(&thread->ignoring, memory_order_relaxed) != 0;
}

static void go_untracked(struct hook_gate_frame *frame)
{
    struct invocation gone;

    if (frame->kind == HOOK_GATE_LEAVE) {
        return_tracking_leave_unknown(slot_of(frame), stub_of(frame), &gone);
        return_to(frame, gone.return_address);
    }
    frame->outcome = frame->kind == HOOK_GATE_ENTER ? HOOK_OUTCOME_UNTRACKED : HOOK_OUTCOME_GO;
}

static void set_counter(int mode)
{
    (void)raw_syscall(__NR_prctl, PR_SET_TSC, mode, 0, 0, 0, 0);
}

/* Records have times, and listeners may look at the counter. While one does, it is allowed already. */
static void allow_counter(struct hook_gate_frame *frame)
{
    frame->is_counter_allowed =
        frame->thread->is_counter_forbidden && hook_thread_ignoring(frame->thread, HOOK_IGNORING_LISTENER) == 0;
    if (frame->is_counter_allowed)
        set_counter(PR_TSC_ENABLE);
}

/* Whatever the gate still does needs neither the counter nor quiet. */
static void let_go(const struct hook_gate_frame *frame)
{
    /* Unless the thread is on its way to allow it itself. */
    if (frame->is_counter_allowed && frame->thread->is_counter_forbidden)
        set_counter(PR_TSC_SIGSEGV);
    hook_signals_unblock(frame->mask);
}

uint64_t hook_gate_find(struct hook_gate_frame *frame)
{
    bool is_forked;

    frame->outcome = HOOK_OUTCOME_GO;
    frame->is_listening = false;
    frame->is_counter_allowed = false;
    frame->mask = hook_signals_block();
    counter_add(COUNTER_hook_gates_slow, 1);
    frame->thread = hook_thread_obtain(&is_forked);
    frame->is_forked = is_forked;
    if (frame->thread == NULL) {
        counter_add(COUNTER_hook_calls_untracked, 1);
        go_untracked(frame);
        let_go(frame);
        return 0;
    }
    if (is_ignoring(frame->thread, frame) && !is_forked &&
        (frame->kind == HOOK_GATE_ENTER || frame->kind == HOOK_GATE_ONCE)) {
        go_untracked(frame);
        let_go(frame);
        return 0;
    }
    allow_counter(frame);
    /* Where a listener runs, on whose stack this is, nothing may be done on it from the top. */
    if (hook_thread_ignoring(frame->thread, HOOK_IGNORING_LISTENER) != 0)
        return ((uintptr_t)frame - STACK_IN_USE_BYTES) & ~(uint64_t)15;
    frame->thread->gate_sp = (uintptr_t)frame;
    return frame->thread->stack_top;
}

/* While listeners run on their stack, the kernel does not see that a signal handler's is in use. */
static bool is_on_signal_stack(const struct hook_gate_frame *frame)
{
    uint64_t sp = sp_of(frame);

    return !hook_thread_is_on_own_stack(frame->thread, sp) && own_stack_is_signal_stack(sp, frame->thread->stack_low);
}

static void listen_later(struct hook_gate_frame *frame)
{
    frame->is_listening = true;
    /* A handler is not to read the counter, either. */
    frame->is_blocked = frame->is_counter_allowed || is_on_signal_stack(frame);
    hook_thread_set_ignoring(frame->thread, HOOK_IGNORING_LISTENER, HOOK_LISTENING_GATE);
}

static void track_enter(struct hook_gate_frame *frame)
{
    struct hook_thread *thread = frame->thread;
    uint64_t stub = stub_of(frame);

    frame->invocation = return_tracking_enter(thread, slot_of(frame), stub);
    if (frame->invocation == NULL) {
        counter_add(COUNTER_hook_calls_untracked, 1);
        frame->outcome = HOOK_OUTCOME_UNTRACKED;
        return;
    }
    if (stub_parts(stub) & HOOK_STUB_RECORD)
        hook_record_write(thread, stub_record_number(stub), EVENT_RECORD_ENTER, frame->invocation->depth);
    if (stub_parts(stub) & (HOOK_STUB_LISTEN | HOOK_STUB_REPLACE))
        listen_later(frame);
}

/* What it takes of the invocation is kept above the thread's top, where nobody is as long as calls are ignored. */
static void keep(struct hook_gate_frame *frame, const struct invocation *gone)
{
    struct invocation *place = &frame->thread->left;

    *place = *gone;
    frame->invocation = place;
}

static void track_leave(struct hook_gate_frame *frame)
{
    struct hook_thread *thread = frame->thread;
    uint64_t stub = stub_of(frame);
    struct invocation gone;
    bool is_known = return_tracking_leave(thread, slot_of(frame), stub, &gone);

    return_to(frame, gone.return_address);
    if (!is_known)
        return;
    if (stub_parts(stub) & HOOK_STUB_UNWINDER) {
        call_data_give_back(thread, gone.data);
        return_tracking_resume(thread, slot_of(frame) + 1);
    }
    if (stub_parts(stub) & HOOK_STUB_RECORD)
        hook_record_write(thread, stub_record_number(stub), EVENT_RECORD_LEAVE, gone.depth);
    if (stub_parts(stub) & HOOK_STUB_LISTEN) {
        keep(frame, &gone);
        listen_later(frame);
    }
}

/* Its leaving is not going to be seen. */
static void record_once(struct hook_thread *thread, uint64_t stub)
{
    hook_record_write(thread, stub_record_number(stub), EVENT_RECORD_PASSED, thread->invocations.top[-1].depth + 1);
}

static void track_once(struct hook_gate_frame *frame)
{
    unsigned parts = stub_parts(frame->stub);

    if (parts & HOOK_STUB_GOROUTINE)
        hook_goroutine_record(frame->thread, frame->stub,
                              frame->saved.registers[engine_host()->hook->goroutine_register], sp_of(frame));
    else if (parts & HOOK_STUB_RECORD)
        record_once(frame->thread, frame->stub);
    if (stub_parts(frame->stub) & HOOK_STUB_LISTEN)
        listen_later(frame);
}

void hook_gate_track(struct hook_gate_frame *frame)
{
    if (frame->is_forked && hook_threads_options()->forked != NULL) {
        hook_threads_options()->forked();
        suspended_calls_tell_inherited(frame->thread);
    }
    switch (frame->kind) {
    case HOOK_GATE_ENTER:
        track_enter(frame);
        break;
    case HOOK_GATE_LEAVE:
        track_leave(frame);
        break;
    case HOOK_GATE_ONCE:
        track_once(frame);
        break;
    default:
        hook_record_next(frame->thread);
        break;
    }
}

uint64_t hook_gate_unblock(struct hook_gate_frame *frame)
{
    if (!frame->is_listening || !frame->is_blocked)
        let_go(frame);
    return frame->is_listening ? frame->thread->stack_top : 0;
}

static void get_context(const struct hook_gate_frame *frame, struct gait_cpu_context *cpu_out)
{
    for (unsigned i = 0; i < GAIT_CPU_REGISTER_COUNT; i++)
        cpu_out->registers[i] = frame->saved.registers[i];
    cpu_out->flags = frame->saved.flags;
}

static void set_context(struct hook_gate_frame *frame, const struct gait_cpu_context *cpu)
{
    for (unsigned i = 0; i < GAIT_CPU_REGISTER_COUNT; i++)
        frame->saved.registers[i] = cpu->registers[i];
    frame->saved.pc = cpu->pc;
    frame->saved.flags = cpu->flags;
}

void hook_gate_listen(struct hook_gate_frame *frame)
{
    struct hook_thread *thread = frame->thread;
    struct gait_cpu_context cpu;

    get_context(frame, &cpu);
    hook_thread_set_ignoring(thread, HOOK_IGNORING_LISTENER, HOOK_LISTENING_RUN);
    if (frame->kind == HOOK_GATE_ENTER)
        frame->outcome = listener_call_enter(thread, frame->invocation, &cpu);
    else if (frame->kind == HOOK_GATE_LEAVE)
        frame->outcome = listener_call_leave(thread, frame->invocation, &cpu);
    else
        frame->outcome = listener_call_once(thread, frame->stub, &cpu);
    hook_thread_set_ignoring(thread, HOOK_IGNORING_LISTENER, HOOK_LISTENING_GATE);
    set_context(frame, &cpu);
}

void hook_gate_listened(struct hook_gate_frame *frame)
{
    hook_thread_set_ignoring(frame->thread, HOOK_IGNORING_LISTENER, 0);
    if (frame->is_blocked)
        let_go(frame);
}
