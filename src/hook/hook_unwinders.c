/* SPDX-License-Identifier: MIT */
/*
 * Unwinders look at their own return address before anything else, so that one is never replaced when they are entered.
 * One that calls a function for each frame has done so by then: the first call is when its return address is replaced
 * after all, so that its return is seen.
 */
#include "hook/hook_unwinders.h"

#include "arch/abi.h"
#include "base/text_parse.h"
#include "hook/call_data.h"
#include "hook/hook_gate.h"
#include "hook/hook_thread.h"
#include "hook/return_tracking.h"

#include <stddef.h>

typedef int (*trace_function)(void *context, void *argument);

/* What a walk was asked for. */
struct walk {
    trace_function trace;
    void *argument;
    struct invocation *unwinder;
    bool is_redirected;
};

_Static_assert(sizeof(struct walk) <= GAIT_INVOCATION_DATA_BYTES, "it is kept as the data of a call");

static struct invocation *unwind(struct gait_invocation *invocation)
{
    struct hook_thread *thread = hook_thread_current();

    return thread == NULL
               ? NULL
               : return_tracking_unwind(thread, gait_cpu_stack_pointer(invocation->cpu), (uintptr_t)hook_unwinder_stub);
}

static void looks(struct gait_invocation *invocation)
{
    (void)unwind(invocation);
}

static void settles(struct gait_invocation *invocation)
{
    struct hook_thread *thread = hook_thread_current();

    if (thread != NULL)
        return_tracking_settle(thread, gait_cpu_stack_pointer(invocation->cpu));
}

/* Called by the unwinder instead of its caller's function, on the program's stack. */
static int trace_first(void *context, void *argument)
{
    struct walk *walk = argument;

    if (!walk->is_redirected) {
        walk->is_redirected = true;
        return_tracking_redirect_unwinder(walk->unwinder);
    }
    return walk->trace(context, walk->argument);
}

static void walks(struct gait_invocation *invocation)
{
    struct invocation *unwinder = unwind(invocation);
    uint64_t *trace = gait_cpu_argument_place(invocation->cpu, 0),
             *argument = gait_cpu_argument_place(invocation->cpu, 1);
    struct call_data *data = unwinder == NULL ? NULL : call_data_take(hook_thread_current(), 1);
    struct walk *walk;

    if (data == NULL)
        return;
    unwinder->data = data;
    walk = (struct walk *)(void *)data->bytes;
    *walk = (struct walk){(trace_function)(uintptr_t)*trace, (void *)(uintptr_t)*argument, unwinder, false};
    *trace = (uintptr_t)trace_first;
    *argument = (uintptr_t)walk;
}

#define LISTENER(action)                                                                                               \
    {                                                                                                                  \
        .enter = (action), .flags = HOOK_LISTENER_GENERAL_ONLY | HOOK_LISTENER_ENTRY_ONLY, .serial = 1                 \
    }

static const struct {
    const char *name;
    struct hook_listener listener;
} unwinders[] = {
#define UNWINDER(symbol, action) {#symbol, LISTENER(action)},
#include "hook/hook_unwinders.def"
#undef UNWINDER
};

#define COUNT (sizeof(unwinders) / sizeof(unwinders[0]))

/* Of those that the CPU's libraries have by names of their own. */
static const struct hook_listener steps = LISTENER(looks);

bool hook_unwinder_at(size_t index, struct hook_unwinder *unwinder_out)
{
    const char *const *names = abi_host()->frame_steps;

    if (index < COUNT) {
        *unwinder_out = (struct hook_unwinder){unwinders[index].name, &unwinders[index].listener};
        return true;
    }
    for (size_t i = COUNT; names != NULL && *names != NULL; i++, names++)
        if (i == index) {
            *unwinder_out = (struct hook_unwinder){*names, &steps};
            return true;
        }
    return false;
}

const struct hook_listener *hook_unwinder_find(const char *name)
{
    struct hook_unwinder unwinder;

    for (size_t i = 0; hook_unwinder_at(i, &unwinder); i++)
        if (text_equal(unwinder.name, name))
            return unwinder.listener;
    return NULL;
}
