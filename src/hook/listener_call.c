/* SPDX-License-Identifier: MIT */
/*
 * Invariant: a listener is told of the leaving of a call only if it was attached when that was entered, so that its
 * data of the call is what it left there. Lists are read once for each time; see quiescence.h for how long they stay.
 */
#include "hook/listener_call.h"

#include "arch/vector_state.h"
#include "hook/call_data.h"
#include "hook/hook_thread.h"
#include "hook/quiescence.h"
#include "hook/return_tracking.h"
#include "hook/stub_knowledge.h"

#include <stdatomic.h>
#include <stddef.h>

struct listening {
    struct hook_thread *thread;
    const struct hook_listeners *listeners;
    struct call_data *data;
    struct gait_invocation invocation;
};

struct hook_thread *listener_call_thread(const struct gait_invocation *invocation)
{
    return ((const struct listening *)(const void *)((const uint8_t *)invocation -
                                                     offsetof(struct listening, invocation)))
        ->thread;
}

static inline const struct hook_listeners *listeners_of(const struct hook_function *function)
{
    const struct hook_listeners *listeners;

    /* Acquire: pairs with the release of whoever publishes a list. */
    listeners = atomic_load_explicit(&function->listeners, memory_order_acquire);
    return listeners == NULL || listeners->count == 0 ? NULL : listeners;
}

/* Where it returns to in the end. Mostly no other function has jumped to it. */
static inline uint64_t caller_of(struct hook_thread *thread, const struct invocation *invocation)
{
    uint64_t slot = atomic_load_explicit(&invocation->slot, memory_order_relaxed), outer;

    if (invocation == &thread->left)
        return return_tracking_caller(thread, invocation);
    slot = slot < INVOCATION_NO_SLOT ? slot : ~slot;
    outer = atomic_load_explicit(&invocation[-1].slot, memory_order_relaxed);
    if ((outer < INVOCATION_NO_SLOT && outer != slot) || outer == INVOCATION_FIRST)
        return invocation->return_address;
    return return_tracking_caller(thread, invocation);
}

static inline bool is_wanted(const struct listening *listening, const struct hook_listener *listener)
{
    if (listening->invocation.point == GAIT_INVOCATION_UNWOUND && (listener->flags & HOOK_LISTENER_UNWOUND) == 0)
        return false;
    return listening->data != NULL && listener->serial <= listening->data->last_serial;
}

/* Calls those that want to know. */
static inline void tell_all(struct listening *listening, bool is_enter)
{
    const struct hook_listeners *listeners = listening->listeners;

    for (uint32_t i = 0; i < listeners->count; i++) {
        const struct hook_listener *listener = &listeners->items[i];
        gait_invocation_function function = is_enter ? listener->enter : listener->leave;

        if (function == NULL || (!is_enter && !is_wanted(listening, listener)))
            continue;
        listening->invocation.data = listener->data;
        listening->invocation.call_data =
            listening->data == NULL ? NULL
                                    : listening->data->bytes + (size_t)listener->place * GAIT_INVOCATION_DATA_BYTES;
        function(&listening->invocation);
    }
}

/* With the program's errno, and its vector registers where a listener may use them. */
static inline __attribute__((always_inline)) void tell_guarded(struct listening *listening, bool is_enter)
{
    bool with_vectors = !listening->listeners->is_general_only && listening->thread->vectors != NULL;
    int *(*location)(void) = hook_threads_options()->errno_location;
    int *error_number = NULL;

    if (with_vectors) {
        vector_state_save(listening->thread->vectors);
        if (is_enter || listening->invocation.point == GAIT_INVOCATION_LEAVE)
            hook_thread_set_ignoring(listening->thread, HOOK_IGNORING_LISTENER, HOOK_LISTENING_SAVED);
    }
    listening->invocation.error_number = 0;
    if (location != NULL) {
        error_number = location();
        listening->invocation.error_number = *error_number;
    }
    tell_all(listening, is_enter);
    if (error_number != NULL)
        *error_number = listening->invocation.error_number;
    if (with_vectors)
        vector_state_restore(listening->thread->vectors);
}

static inline void describe(struct listening *listening, const struct hook_function *function,
                            struct gait_cpu_context *cpu, enum gait_invocation_point point)
{
    listening->invocation.cpu = cpu;
    listening->invocation.function = function->address;
    listening->invocation.thread_id = listening->thread->tid;
    listening->invocation.point = point;
}

/* ---- entering ---------------------------------------------------------------------------------------------------- */

/* Whether it is called by its own replacement, by way of others perhaps, which wants what it replaces. */
static bool is_called_by_replacement(struct hook_thread *thread, const struct invocation *invocation)
{
    const struct hook_function *function = stub_function(invocation->stub);
    struct invocation_cursor cursor;
    const struct invocation *caller;

    invocation_cursor_begin(&cursor, &thread->invocations);
    while ((caller = invocation_cursor_next(&cursor)) != NULL)
        if (caller != invocation && stub_function(caller->stub) == function &&
            (stub_parts(caller->stub) & HOOK_STUB_REPLACE) != 0)
            return true;
    return false;
}

/* A stack is taken to be no larger than that, where nothing else tells it from others. */
#define STACK_BYTES_MAX (8u << 20)

bool listener_call_replaced(struct hook_thread *thread, uint64_t sp, struct replaced_call *call_out)
{
    struct invocation_cursor cursor;
    const struct invocation *call;

    invocation_cursor_begin(&cursor, &thread->invocations);
    while ((call = invocation_cursor_next(&cursor)) != NULL) {
        const struct hook_function *function = stub_function(call->stub);
        uint64_t slot = atomic_load_explicit(&call->slot, memory_order_relaxed);

        if ((stub_parts(call->stub) & HOOK_STUB_REPLACE) == 0 || (slot < sp && sp - slot < STACK_BYTES_MAX))
            continue;
        *call_out = (struct replaced_call){
            .function = function->address,
            .return_address = caller_of(thread, call),
            .data = function->replacement_data,
            .depth = call->depth,
        };
        return true;
    }
    return false;
}

static uint32_t enter_original(struct hook_thread *thread, struct invocation *invocation, struct gait_cpu_context *cpu)
{
    cpu->pc = stub_function(invocation->stub)->trampoline;
    invocation_stack_remove(&thread->invocations, invocation);
    return HOOK_OUTCOME_JUMP;
}

static inline uint32_t enter_busy(struct hook_thread *thread, struct invocation *invocation,
                                  struct gait_cpu_context *cpu)
{
    const struct hook_function *function = stub_function(invocation->stub);
    struct listening listening;

    listening.thread = thread;
    listening.listeners = listeners_of(function);
    if (listening.listeners == NULL)
        return HOOK_OUTCOME_GO;
    listening.data = call_data_take(thread, listening.listeners->places);
    if (listening.data != NULL)
        listening.data->last_serial = listening.listeners->last_serial;
    invocation->data = listening.data;
    describe(&listening, function, cpu, GAIT_INVOCATION_ENTER);
    listening.invocation.return_address = caller_of(thread, invocation);
    listening.invocation.depth = invocation->depth;
    cpu->pc = function->address;
    tell_guarded(&listening, true);
    if (cpu->pc == function->address)
        return HOOK_OUTCOME_GO;
    call_data_give_back(thread, listening.data);
    invocation_stack_remove(&thread->invocations, invocation);
    return HOOK_OUTCOME_JUMP;
}

uint32_t listener_call_enter(struct hook_thread *thread, struct invocation *invocation, struct gait_cpu_context *cpu)
{
    uint32_t outcome;

    if (stub_parts(invocation->stub) & HOOK_STUB_REPLACE && is_called_by_replacement(thread, invocation))
        return enter_original(thread, invocation, cpu);
    hook_busy_begin(thread);
    outcome = enter_busy(thread, invocation, cpu);
    hook_busy_end(thread);
    return outcome;
}

/* ---- leaving ----------------------------------------------------------------------------------------------------- */

/* cpu->pc is where it returns to. */
static inline void leave_busy(struct hook_thread *thread, const struct invocation *invocation,
                              struct gait_cpu_context *cpu, enum gait_invocation_point point)
{
    const struct hook_function *function = stub_function(invocation->stub);
    struct listening listening;

    listening.thread = thread;
    listening.data = invocation->data;
    listening.listeners = listeners_of(function);
    if (listening.listeners == NULL || listening.data == NULL)
        return;
    describe(&listening, function, cpu, point);
    listening.invocation.return_address = cpu->pc;
    listening.invocation.depth = invocation->depth;
    tell_guarded(&listening, false);
}

uint32_t listener_call_leave(struct hook_thread *thread, struct invocation *invocation, struct gait_cpu_context *cpu)
{
    uint64_t caller = caller_of(thread, invocation);
    struct call_data *data = invocation->data;

    cpu->pc = caller;
    hook_busy_begin(thread);
    leave_busy(thread, invocation, cpu, GAIT_INVOCATION_LEAVE);
    hook_busy_end(thread);
    call_data_give_back(thread, data);
    return cpu->pc == caller ? HOOK_OUTCOME_GO : HOOK_OUTCOME_JUMP;
}

void listener_call_unwound(struct hook_thread *thread, struct invocation *invocation)
{
    struct gait_cpu_context cpu = {.pc = return_tracking_caller(thread, invocation)};

    hook_busy_begin(thread);
    leave_busy(thread, invocation, &cpu, GAIT_INVOCATION_UNWOUND);
    hook_busy_end(thread);
    call_data_give_back(thread, invocation->data);
}

/* ---- once -------------------------------------------------------------------------------------------------------- */

static inline void once_busy(struct hook_thread *thread, uint64_t stub, struct gait_cpu_context *cpu)
{
    const struct hook_function *function = stub_function(stub);
    bool is_probe = stub_parts(stub) & HOOK_STUB_PROBE;
    struct listening listening;

    listening.thread = thread;
    listening.data = NULL;
    listening.listeners = listeners_of(function);
    if (listening.listeners == NULL)
        return;
    describe(&listening, function, cpu, is_probe ? GAIT_INVOCATION_PROBE : GAIT_INVOCATION_ENTER);
    listening.invocation.return_address = is_probe ? 0 : *(const uint64_t *)(uintptr_t)gait_cpu_stack_pointer(cpu);
    listening.invocation.depth = thread->invocations.top[-1].depth + 1;
    tell_guarded(&listening, true);
}

uint32_t listener_call_once(struct hook_thread *thread, uint64_t stub, struct gait_cpu_context *cpu)
{
    uint64_t address = stub_function(stub)->address;

    cpu->pc = address;
    hook_busy_begin(thread);
    once_busy(thread, stub, cpu);
    hook_busy_end(thread);
    return cpu->pc == address ? HOOK_OUTCOME_GO : HOOK_OUTCOME_JUMP;
}

/* ---- the program's vector registers ------------------------------------------------------------------------------ */

bool listener_call_find_vectors(const struct gait_cpu_context *cpu, struct vector_state_place *place_out)
{
    struct hook_thread *thread = hook_thread_has_base((uintptr_t)cpu) ? hook_thread_current() : NULL;
    uint8_t listening;

    /* In its own memory: gates have it in the struct, the slow way on the stack for listeners. */
    if (thread == NULL || (uintptr_t)cpu - (uintptr_t)thread >= thread->stack_top - (uintptr_t)thread)
        return false;
    listening = hook_thread_ignoring(thread, HOOK_IGNORING_LISTENER);
    if (listening < HOOK_LISTENING_RUN)
        return false;
    *place_out = (struct vector_state_place){
        .area = listening == HOOK_LISTENING_UNWOUND ? NULL : thread->vectors,
        .is_in_cpu = listening == HOOK_LISTENING_RUN,
    };
    return true;
}
