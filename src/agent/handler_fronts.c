/* SPDX-License-Identifier: MIT */
/*
 * The kernel's actions are all the state there is, with a list of fronts, which are made once for each handler: so
 * children, and whatever resets an action, need no care. A front is put in the place of a handler right behind the call
 * that sets it; until then the handler is as good as ours, but sees more.
 *
 * Lock: `lock`, for the list, the making of fronts, and the set of hooks.
 */
#include "agent/handler_fronts.h"

#include "agent/dispatched_calls.h"
#include "agent/hook_set.h"
#include "agent/interrupted_place.h"
#include "arch/signal_saved.h"
#include "base/raw_syscall.h"
#include "hook/call_data.h"
#include "hook/call_slot.h"
#include "hook/hook_gate.h"
#include "hook/hook_thread.h"
#include "hook/listener_call.h"
#include "hook/return_tracking.h"
#include "hook/stub_knowledge.h"
#include "process/memory_probe.h"
#include "process/owner_lock.h"

#include <asm/errno.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/unistd.h>
#include <stdatomic.h>
#include <stddef.h>

#define SIGNALS           64
#define FRONTS_MAX        256
#define LOCK_TIMEOUT_MS   10000u
#define SIGNAL_TIMEOUT_MS 20u
#define HANDLERS_FROM     2u /* below are SIG_DFL and SIG_IGN */

/* What the kernel calls a sigaction; the C library's begins with the handler, too. */
struct handler_action {
    uint64_t handler;
    uint64_t flags;
    uint64_t restorer;
    uint64_t mask;
};

struct front {
    uint64_t handler;
    uint64_t entry;
};

static struct {
    struct owner_lock lock;
    struct front fronts[FRONTS_MAX];
    _Atomic uint32_t count; /* those below it are complete */
    atomic_bool is_on;
    bool has_setter;
    bool has_asker;
} state;

void handler_fronts_prepare(void)
{
    state.has_setter = state.has_asker = false;
}

void handler_fronts_note_setter(void)
{
    state.has_setter = true;
}

void handler_fronts_note_asker(void)
{
    state.has_asker = true;
}

int handler_fronts_lock(void)
{
    return owner_lock_acquire(&state.lock, LOCK_TIMEOUT_MS);
}

void handler_fronts_unlock(void)
{
    owner_lock_release(&state.lock);
}

/* ---- what a handler sees ----------------------------------------------------------------------------------------- */

/* Kept with the call of a handler. */
struct shown {
    struct interrupted_place real; /* if it is not what was shown; else zero */
    struct interrupted_place shown;
    bool is_resumed; /* the thread was not dispatched where it was interrupted (dispatched_calls.h) */
};

_Static_assert(sizeof(struct shown) <= GAIT_INVOCATION_DATA_BYTES, "what is kept of a call");

static struct interrupted_place place_in(uint64_t frame)
{
    return (struct interrupted_place){*(const uint64_t *)(uintptr_t)signal_saved_pc_at(frame),
                                      *(const uint64_t *)(uintptr_t)signal_saved_sp_at(frame)};
}

static void set_place_in(uint64_t frame, struct interrupted_place place)
{
    *(uint64_t *)(uintptr_t)signal_saved_pc_at(frame) = place.pc;
    *(uint64_t *)(uintptr_t)signal_saved_sp_at(frame) = place.sp;
}

/* Of instructions that the CPU refuses, it is the address of the fault; of a call that was held, where that returns. */
static void show_address(const struct gait_invocation *invocation, const struct shown *kept)
{
    uint64_t signal = gait_invocation_argument(invocation, 0);
    siginfo_t *info = (siginfo_t *)(uintptr_t)gait_invocation_argument(invocation, 1);

    if ((signal == SIGILL || signal == SIGFPE || signal == SIGTRAP) && info->si_code > 0 &&
        (uintptr_t)info->si_addr == kept->real.pc)
        info->si_addr = (void *)(uintptr_t)kept->shown.pc;
    else if (signal == SIGSYS && (uintptr_t)info->si_call_addr == kept->real.pc)
        info->si_call_addr = (void *)(uintptr_t)kept->shown.pc;
}

static bool find_shown(const struct hook_thread *thread, struct shown *kept)
{
    uint64_t mask = hook_signals_block();
    bool is_found = false;

    if (owner_lock_acquire(&state.lock, SIGNAL_TIMEOUT_MS) == 0) {
        is_found = interrupted_place_find(thread, kept->real, &kept->shown);
        owner_lock_release(&state.lock);
    }
    hook_signals_unblock(mask);
    return is_found;
}

/* The front is no call of the program's, so it does not count as one. */
static void count_no_call(struct hook_thread *thread, uint64_t slot)
{
    struct invocation *invocation = invocation_stack_find(&thread->invocations, slot, 0);

    if (invocation != NULL && invocation->depth > 0)
        invocation->depth--;
}

/* Nothing else is seen of it: the program's way is the same call. */
static void return_by_own_call(struct hook_thread *thread, uint64_t slot)
{
    struct invocation *invocation = invocation_stack_find(&thread->invocations, slot, 0);

    if (invocation != NULL && dispatched_calls_hold_return(thread->tid, invocation->return_address))
        invocation->return_address = signal_restorer();
}

static void handler_begins(struct gait_invocation *invocation)
{
    struct hook_thread *thread = listener_call_thread(invocation);
    uint64_t frame = gait_cpu_stack_pointer(invocation->cpu);
    struct shown *kept = invocation->call_data, found;

    count_no_call(thread, frame);
    /* Somebody else than the kernel may call it. */
    if (kept == NULL || signal_saved_pc_in(gait_invocation_argument(invocation, 2)) != signal_saved_pc_at(frame))
        return;
    hook_gate_complete_record(frame);
    return_by_own_call(thread, frame);
    kept->is_resumed = dispatched_calls_resume(thread->tid);
    found.is_resumed = kept->is_resumed;
    found.real = kept->shown = place_in(frame);
    if (!find_shown(thread, &found))
        return;
    *kept = found;
    set_place_in(frame, kept->shown);
    show_address(invocation, kept);
}

static bool is_as_shown(uint64_t frame, const struct shown *kept)
{
    struct interrupted_place now = place_in(frame);

    return kept->real.pc != 0 && now.pc == kept->shown.pc && now.sp == kept->shown.sp;
}

/* A place that the handler has chosen may be overwritten: then the thread goes on in the copy of that. */
static void follow_choice(uint64_t frame)
{
    uint64_t mask = hook_signals_block();
    struct interrupted_place place = place_in(frame);

    if (owner_lock_acquire(&state.lock, LOCK_TIMEOUT_MS) == 0) {
        if (hook_set_find_displaced(place.pc, &place.pc))
            set_place_in(frame, place);
        owner_lock_release(&state.lock);
    }
    hook_signals_unblock(mask);
}

/* The return address is off the stack. */
static void handler_ends(struct gait_invocation *invocation)
{
    uint64_t frame = call_slot_of_left(gait_cpu_stack_pointer(invocation->cpu));
    const struct shown *kept = invocation->call_data;

    if (kept == NULL || kept->shown.sp == 0)
        return;
    if (kept->is_resumed)
        (void)dispatched_calls_pause(listener_call_thread(invocation)->tid);
    if (is_as_shown(frame, kept))
        set_place_in(frame, kept->real);
    else if (place_in(frame).pc != kept->shown.pc)
        follow_choice(frame);
}

/* ---- fronts ------------------------------------------------------------------------------------------------------ */

static uint64_t find_entry(uint64_t handler)
{
    uint32_t count = atomic_load_explicit(&state.count, memory_order_acquire);

    for (uint32_t i = 0; i < count; i++)
        if (state.fronts[i].handler == handler)
            return state.fronts[i].entry;
    return 0;
}

static uint64_t find_handler(uint64_t entry)
{
    uint32_t count = atomic_load_explicit(&state.count, memory_order_acquire);

    for (uint32_t i = 0; i < count; i++)
        if (state.fronts[i].entry == entry)
            return state.fronts[i].handler;
    return 0;
}

/* 0: there is no memory for one. */
static uint64_t make_entry(uint64_t handler)
{
    static const struct hook_listener listener = {
        .enter = handler_begins, .leave = handler_ends, .flags = HOOK_LISTENER_GENERAL_ONLY};
    uint32_t count = atomic_load_explicit(&state.count, memory_order_relaxed);
    uint64_t entry = find_entry(handler);

    if (entry != 0 || count == FRONTS_MAX || hook_set_make_front(handler, &listener, &entry) != 0)
        return entry;
    state.fronts[count] = (struct front){handler, entry};
    /* Release: pairs with the acquires of find_entry and find_handler. */
    atomic_store_explicit(&state.count, count + 1, memory_order_release);
    return entry;
}

static bool get_action(int signal, struct handler_action *action_out)
{
    return raw_syscall(__NR_rt_sigaction, signal, 0, (long)action_out, sizeof(action_out->mask), 0, 0) == 0;
}

static void set_action(int signal, const struct handler_action *action)
{
    (void)raw_syscall(__NR_rt_sigaction, signal, (long)action, 0, sizeof(action->mask), 0, 0);
}

/* Puts a front in the place of a handler, unless that is another one by now. */
static void put_front(int signal, uint64_t handler)
{
    uint64_t entry = state.has_setter && !state.has_asker ? make_entry(handler) : 0;
    struct handler_action action;

    if (entry == 0 || !get_action(signal, &action) || action.handler != handler)
        return;
    action.handler = entry;
    set_action(signal, &action);
}

void handler_fronts_begin(void)
{
    struct handler_action action;

    atomic_store_explicit(&state.count, 0, memory_order_relaxed);
    atomic_store_explicit(&state.is_on, true, memory_order_release);
    for (int signal = 1; signal <= SIGNALS; signal++)
        if (get_action(signal, &action) && action.handler >= HANDLERS_FROM)
            put_front(signal, action.handler);
}

void handler_fronts_leave(void)
{
    struct handler_action action;

    atomic_store_explicit(&state.is_on, false, memory_order_release);
    for (int signal = 1; signal <= SIGNALS; signal++)
        if (get_action(signal, &action) && find_handler(action.handler) != 0) {
            action.handler = find_handler(action.handler);
            set_action(signal, &action);
        }
}

static bool is_front(const struct invocation *invocation)
{
    const struct hook_listeners *listeners;

    if (invocation->data == NULL || (stub_parts(invocation->stub) & HOOK_STUB_LISTEN) == 0)
        return false;
    listeners = atomic_load_explicit(&stub_function(invocation->stub)->listeners, memory_order_acquire);
    return listeners != NULL && listeners->items[0].enter == handler_begins;
}

static bool needs_front(const struct invocation *invocation)
{
    const struct call_data *data = invocation->data;
    const struct shown *kept = (const struct shown *)(const void *)data->bytes;

    if (invocation->return_address == signal_restorer())
        return true;
    return is_as_shown(atomic_load_explicit(&invocation->slot, memory_order_relaxed), kept) &&
           !interrupted_place_is_exact(kept->real.pc);
}

bool handler_fronts_can_leave(int tid, uint64_t sp)
{
    struct hook_thread *thread = hook_thread_of(tid);
    struct invocation_cursor cursor;
    const struct invocation *invocation;
    uint64_t last_slot = 0;
    bool is_under_way = false;

    if (thread == NULL)
        return true;
    invocation_cursor_begin(&cursor, &thread->invocations);
    while ((invocation = invocation_cursor_next(&cursor)) != NULL) {
        uint64_t slot = atomic_load_explicit(&invocation->slot, memory_order_relaxed);

        /* A handler that is hooked itself is in the same slot, inside of its front. */
        if (slot != last_slot)
            is_under_way = return_tracking_is_under_way(thread, invocation, sp);
        last_slot = slot;
        if (is_under_way && is_front(invocation) && needs_front(invocation))
            return false;
    }
    return true;
}

/* ---- who sets actions -------------------------------------------------------------------------------------------- */

void handler_setting_begins(struct handler_setting *setting, int signal, uint64_t action, uint64_t old)
{
    uint64_t handler = 0;

    if (action != 0 && memory_probe_copy(action, &handler, sizeof(handler)) != 0)
        handler = 0;
    /* It may be one of ours, if somebody asked the kernel itself before. */
    if (handler != 0 && find_handler(handler) != 0)
        handler = find_handler(handler);
    *setting = (struct handler_setting){.handler = handler, .old = old, .signal = signal};
}

void handler_setting_ends(const struct handler_setting *setting)
{
    uint64_t handler = 0, mask;

    if (setting->old != 0)
        handler = find_handler(*(const uint64_t *)(uintptr_t)setting->old);
    if (handler != 0)
        *(uint64_t *)(uintptr_t)setting->old = handler;
    if (setting->handler < HANDLERS_FROM || !atomic_load_explicit(&state.is_on, memory_order_acquire))
        return;
    mask = hook_signals_block();
    if (handler_fronts_lock() == 0) {
        put_front((int)setting->signal, setting->handler);
        handler_fronts_unlock();
    }
    hook_signals_unblock(mask);
}
