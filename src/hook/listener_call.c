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

static const struct hook_listeners *listeners_of(uint64_t stub)
{
    struct hook_function *function = stub_function(stub);

    /* Acquire: pairs with the release of whoever publishes a list. */
    return function == NULL ? NULL : atomic_load_explicit(&function->listeners, memory_order_acquire);
}

static bool wants_leave(const struct hook_listener *listener, enum gait_invocation_point point)
{
    return listener->leave != NULL &&
           (point != GAIT_INVOCATION_UNWOUND || (listener->flags & HOOK_LISTENER_UNWOUND) != 0);
}

static void tell(struct listening *listening, const struct hook_listener *listener, bool is_enter)
{
    struct gait_invocation *invocation = &listening->invocation;
    gait_invocation_function function = is_enter ? listener->enter : listener->leave;

    invocation->data = listener->data;
    invocation->call_data =
        listening->data == NULL ? NULL : listening->data->bytes + (size_t)listener->place * GAIT_INVOCATION_DATA_BYTES;
    function(invocation);
}

static void tell_all(struct listening *listening)
{
    enum gait_invocation_point point = listening->invocation.point;

    for (uint32_t i = 0; i < listening->listeners->count; i++) {
        const struct hook_listener *listener = &listening->listeners->items[i];

        if (point == GAIT_INVOCATION_ENTER || point == GAIT_INVOCATION_PROBE) {
            if (listener->enter != NULL)
                tell(listening, listener, true);
        } else if (wants_leave(listener, point) && listening->data != NULL &&
                   listener->serial <= listening->data->last_serial) {
            tell(listening, listener, false);
        }
    }
}

/* With the program's errno, and its vector registers where a listener may use them. */
static void tell_guarded(struct listening *listening)
{
    bool with_vectors = !listening->listeners->is_general_only && listening->thread->vectors != NULL;
    int *(*location)(void) = hook_threads_options()->errno_location;
    int *error_number = NULL;

    if (with_vectors)
        vector_state_save(listening->thread->vectors);
    if (location != NULL) {
        error_number = location();
        listening->invocation.error_number = *error_number;
    }
    tell_all(listening);
    if (error_number != NULL)
        *error_number = listening->invocation.error_number;
    if (with_vectors)
        vector_state_restore(listening->thread->vectors);
}

static void begin(struct listening *listening, uint64_t stub, struct gait_cpu_context *cpu,
                  enum gait_invocation_point point)
{
    listening->invocation.cpu = cpu;
    listening->invocation.function = stub_function(stub)->address;
    listening->invocation.thread_id = listening->thread->tid;
    listening->invocation.point = point;
    listening->invocation.error_number = 0;
}

/* ---- entering ---------------------------------------------------------------------------------------------------- */

/* Whether it is called by its own replacement, which wants what it replaces. */
static bool is_called_by_replacement(struct hook_thread *thread, const struct invocation *invocation)
{
    struct invocation_cursor cursor;
    const struct invocation *caller;

    if ((stub_parts(invocation->stub) & HOOK_STUB_REPLACE) == 0)
        return false;
    invocation_cursor_begin(&cursor, &thread->invocations);
    caller = invocation_cursor_next(&cursor);
    if (caller == invocation)
        caller = invocation_cursor_next(&cursor);
    return caller != NULL && stub_function(caller->stub) == stub_function(invocation->stub) &&
           (stub_parts(caller->stub) & HOOK_STUB_REPLACE) != 0;
}

static uint32_t enter_original(struct hook_thread *thread, struct invocation *invocation, struct gait_cpu_context *cpu)
{
    cpu->pc = stub_function(invocation->stub)->trampoline;
    invocation_stack_remove(&thread->invocations, invocation);
    return HOOK_OUTCOME_JUMP;
}

static uint32_t enter_busy(struct hook_thread *thread, struct invocation *invocation, struct gait_cpu_context *cpu)
{
    struct listening listening = {.thread = thread, .listeners = listeners_of(invocation->stub)};

    if (listening.listeners == NULL || listening.listeners->count == 0)
        return HOOK_OUTCOME_GO;
    listening.data = call_data_take(thread, listening.listeners->places);
    if (listening.data != NULL)
        listening.data->last_serial = listening.listeners->last_serial;
    invocation->data = listening.data;
    begin(&listening, invocation->stub, cpu, GAIT_INVOCATION_ENTER);
    listening.invocation.return_address = return_tracking_caller(thread, invocation);
    listening.invocation.depth = invocation->depth;
    cpu->pc = listening.invocation.function;
    tell_guarded(&listening);
    if (cpu->pc == listening.invocation.function)
        return HOOK_OUTCOME_GO;
    call_data_give_back(thread, listening.data);
    invocation_stack_remove(&thread->invocations, invocation);
    return HOOK_OUTCOME_JUMP;
}

uint32_t listener_call_enter(struct hook_thread *thread, struct invocation *invocation, struct gait_cpu_context *cpu)
{
    uint32_t outcome;

    if (is_called_by_replacement(thread, invocation))
        return enter_original(thread, invocation, cpu);
    hook_busy_begin(thread);
    outcome = enter_busy(thread, invocation, cpu);
    hook_busy_end(thread);
    return outcome;
}

/* ---- leaving ----------------------------------------------------------------------------------------------------- */

static void leave_busy(struct listening *listening, const struct invocation *invocation, struct gait_cpu_context *cpu,
                       enum gait_invocation_point point)
{
    listening->listeners = listeners_of(invocation->stub);
    if (listening->listeners == NULL || listening->listeners->count == 0 || listening->data == NULL)
        return;
    begin(listening, invocation->stub, cpu, point);
    listening->invocation.return_address = cpu->pc;
    listening->invocation.depth = invocation->depth;
    tell_guarded(listening);
}

uint32_t listener_call_leave(struct hook_thread *thread, struct invocation *invocation, struct gait_cpu_context *cpu)
{
    struct listening listening = {.thread = thread, .data = invocation->data};
    uint64_t caller = return_tracking_caller(thread, invocation);

    cpu->pc = caller;
    hook_busy_begin(thread);
    leave_busy(&listening, invocation, cpu, GAIT_INVOCATION_LEAVE);
    hook_busy_end(thread);
    call_data_give_back(thread, listening.data);
    return cpu->pc == caller ? HOOK_OUTCOME_GO : HOOK_OUTCOME_JUMP;
}

void listener_call_unwound(struct hook_thread *thread, struct invocation *invocation)
{
    struct listening listening = {.thread = thread, .data = invocation->data};
    struct gait_cpu_context cpu = {.pc = return_tracking_caller(thread, invocation)};

    hook_busy_begin(thread);
    leave_busy(&listening, invocation, &cpu, GAIT_INVOCATION_UNWOUND);
    hook_busy_end(thread);
    call_data_give_back(thread, listening.data);
}

/* ---- once -------------------------------------------------------------------------------------------------------- */

static void once_busy(struct listening *listening, uint64_t stub, struct gait_cpu_context *cpu)
{
    bool is_probe = stub_parts(stub) & HOOK_STUB_PROBE;
    const struct invocation *innermost = listening->thread->invocations.top - 1;

    listening->listeners = listeners_of(stub);
    if (listening->listeners == NULL || listening->listeners->count == 0)
        return;
    begin(listening, stub, cpu, is_probe ? GAIT_INVOCATION_PROBE : GAIT_INVOCATION_ENTER);
    listening->invocation.return_address = is_probe ? 0 : *(const uint64_t *)(uintptr_t)cpu->rsp;
    listening->invocation.depth = innermost->depth + 1;
    tell_guarded(listening);
}

uint32_t listener_call_once(struct hook_thread *thread, uint64_t stub, struct gait_cpu_context *cpu)
{
    struct listening listening = {.thread = thread};
    uint64_t address = stub_function(stub)->address;

    cpu->pc = address;
    hook_busy_begin(thread);
    once_busy(&listening, stub, cpu);
    hook_busy_end(thread);
    return cpu->pc == address ? HOOK_OUTCOME_GO : HOOK_OUTCOME_JUMP;
}
