/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#include "hook/listener_call.h"

#include "hook/hook_thread.h"
#include "hook/stub_knowledge.h"
#include "support/check.h"
#include "support/hook_lab.h"

#if defined(__x86_64__)

#define LISTENED (HOOK_STUB_LISTEN | HOOK_STUB_RETURNS)
#define SLOT     0x7f0000001000ull

static char order[64];
static size_t order_length;

static int same(int value)
{
    return value;
}

static void note(struct gait_invocation *invocation)
{
    static const char points[] = {'+', '-', '!', '?'};

    order[order_length++] = points[invocation->point];
    order[order_length++] = *(const char *)invocation->data;
    order[order_length] = '\0';
}

static const char *take_order(void)
{
    order_length = 0;
    return order;
}

/* What gates know. */
static uint64_t last_stub(void)
{
    return hook_lab_last()->stub.landing.value - STUB_LANDING;
}

static struct hook_thread *own_thread(void)
{
    int (*hooked)(int) = (int (*)(int))hook_lab_hook((void *)same, 's', LISTENED);

    CHECK_EQUAL(hooked(1), 1);
    (void)hook_lab_told();
    return hook_thread_current();
}

static void listeners_are_told_in_their_order(void)
{
    const struct hook_listener listeners[3] = {
        {.enter = note, .leave = note, .data = "a"},
        {.enter = note, .data = "b"},
        {.leave = note, .data = "c"},
    };
    struct hook_thread *thread = own_thread();
    struct gait_cpu_context cpu = {0};
    struct invocation *invocation;

    (void)hook_lab_hook_with((void *)same, LISTENED, listeners, 3);
    invocation = invocation_stack_push(&thread->invocations, SLOT, 0x1234, last_stub());
    CHECK_EQUAL(listener_call_enter(thread, invocation, &cpu), HOOK_OUTCOME_GO);
    CHECK_EQUAL(cpu.pc, (uintptr_t)same);
    CHECK_TEXT(take_order(), "+a+b");
    CHECK(invocation->data != NULL);
    invocation_stack_remove(&thread->invocations, invocation);
    CHECK_EQUAL(listener_call_leave(thread, invocation, &cpu), HOOK_OUTCOME_GO);
    CHECK_EQUAL(cpu.pc, 0x1234);
    CHECK_TEXT(take_order(), "-a-c");
}

static void only_those_who_want_to_know_are_told_of_unwinding(void)
{
    const struct hook_listener listeners[2] = {
        {.leave = note, .data = "a"},
        {.leave = note, .data = "b", .flags = HOOK_LISTENER_UNWOUND},
    };
    struct hook_thread *thread = own_thread();
    struct gait_cpu_context cpu = {0};
    struct invocation *invocation;

    (void)hook_lab_hook_with((void *)same, LISTENED, listeners, 2);
    invocation = invocation_stack_push(&thread->invocations, SLOT, 0x1234, last_stub());
    CHECK_EQUAL(listener_call_enter(thread, invocation, &cpu), HOOK_OUTCOME_GO);
    listener_call_unwound(thread, invocation);
    CHECK_TEXT(take_order(), "!b");
    invocation_stack_remove(&thread->invocations, invocation);
}

static void go_elsewhere(struct gait_invocation *invocation)
{
    invocation->cpu->pc = 0x9999;
}

static void a_call_that_is_sent_elsewhere_is_forgotten(void)
{
    const struct hook_listener listener = {.enter = go_elsewhere};
    struct hook_thread *thread = own_thread();
    struct invocation *before = thread->invocations.top;
    struct gait_cpu_context cpu = {0};

    (void)hook_lab_hook_with((void *)same, LISTENED, &listener, 1);
    CHECK_EQUAL(
        listener_call_enter(thread, invocation_stack_push(&thread->invocations, SLOT, 0x1234, last_stub()), &cpu),
        HOOK_OUTCOME_JUMP);
    CHECK_EQUAL(cpu.pc, 0x9999);
    CHECK(thread->invocations.top == before);
}

static void without_listeners_calls_just_go(void)
{
    struct hook_thread *thread = own_thread();
    struct gait_cpu_context cpu = {0};
    struct invocation *invocation;

    (void)hook_lab_hook_with((void *)same, LISTENED, NULL, 0);
    invocation = invocation_stack_push(&thread->invocations, SLOT, 0x1234, last_stub());
    CHECK_EQUAL(listener_call_enter(thread, invocation, &cpu), HOOK_OUTCOME_GO);
    invocation_stack_remove(&thread->invocations, invocation);
    CHECK_EQUAL(listener_call_leave(thread, invocation, &cpu), HOOK_OUTCOME_GO);
}

static void once_there_is_no_data_of_the_call(void)
{
    const struct hook_listener listener = {.enter = note, .data = "p"};
    struct hook_thread *thread = own_thread();
    struct gait_cpu_context cpu = {0};

    (void)hook_lab_hook_with((void *)same, HOOK_STUB_PROBE | HOOK_STUB_LISTEN, &listener, 1);
    /* Of a probe the call of the gate is before what jumps to it, where it is in other stubs. */
    CHECK_EQUAL(listener_call_once(thread, hook_lab_last()->stub.entry.value / 64 * 64 - STUB_FUNCTION, &cpu),
                HOOK_OUTCOME_GO);
    CHECK_TEXT(take_order(), "?p");
}

#endif

static const struct check_case cases[] = {
#if defined(__x86_64__)
    CHECK_CASE(listeners_are_told_in_their_order),
    CHECK_CASE(only_those_who_want_to_know_are_told_of_unwinding),
    CHECK_CASE(a_call_that_is_sent_elsewhere_is_forgotten),
    CHECK_CASE(without_listeners_calls_just_go),
    CHECK_CASE(once_there_is_no_data_of_the_call),
#endif
};

int main(void)
{
#if defined(__x86_64__)
    hook_lab_begin();
#endif
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
