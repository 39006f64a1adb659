/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Stacks through functions that are hooked, and in listeners of hooks. That modules are watched: test_stack_timeline.c.
 */
#define _GNU_SOURCE
#include "libgait/stack_modules.h"

#include "gait/hook.h"
#include "gait/stack.h"
#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define FRAMES_MAX 64u

static struct gait_error error;
static uint64_t pcs[FRAMES_MAX], pcs_before[FRAMES_MAX], listener_pcs[FRAMES_MAX];
static size_t count, listener_count;
static unsigned enters, leaves;
static bool by_signal;

static void capture(void)
{
    struct gait_stack stack = {.size_bytes = sizeof(stack), .pcs = pcs, .capacity = FRAMES_MAX};

    CHECK_EQUAL(gait_stack_capture(&stack), 0);
    count = stack.count;
}

static void handle(int number)
{
    (void)number;
    capture();
}

__attribute__((noinline)) unsigned test_inner(unsigned number);
__attribute__((noinline)) unsigned test_middle(unsigned number);
__attribute__((noinline)) unsigned test_outer(unsigned number);

unsigned test_inner(unsigned number)
{
    if (by_signal)
        raise(SIGUSR1);
    else
        capture();
    __asm__ volatile("" : "+r"(number));
    return number + 1;
}

unsigned test_middle(unsigned number)
{
    volatile char room[200];

    room[0] = (char)number;
    return number % 2 ? test_inner(number) + (unsigned)room[0] - number : test_inner(number) * 2;
}

unsigned test_outer(unsigned number)
{
    unsigned result = test_middle(number);

    __asm__ volatile("" : "+r"(result));
    return result + 1;
}

/* The same places call it each time. */
static unsigned (*volatile call_outer)(unsigned number) = test_outer;

static __attribute__((noinline)) void run(unsigned number)
{
    enters = leaves = 0;
    count = 0;
    CHECK_EQUAL(call_outer(number), number % 2 ? number + 2 : 2 * number + 3);
}

static void enter(struct gait_invocation *invocation)
{
    struct gait_stack stack = {.size_bytes = sizeof(stack), .pcs = listener_pcs, .capacity = FRAMES_MAX};

    enters++;
    CHECK_EQUAL(gait_stack_capture_from(invocation->cpu, &stack), 0);
    listener_count = stack.count;
    CHECK(stack.count >= 3);
    CHECK_EQUAL(listener_pcs[0], invocation->function);
    CHECK_EQUAL(listener_pcs[1], invocation->return_address);
}

static void leave(struct gait_invocation *invocation)
{
    (void)invocation;
    leaves++;
}

static void compare_with_hooks(void)
{
    static const struct gait_listener listener = {.size_bytes = sizeof(listener), .enter = enter, .leave = leave};
    const uint64_t functions[] = {(uintptr_t)test_inner, (uintptr_t)test_middle, (uintptr_t)test_outer};
    struct gait_hooks *hooks;

    CHECK_EQUAL(gait_hooks_acquire(NULL, &hooks, &error), 0);
    for (unsigned hooked = 0; hooked < 8; hooked++) {
        for (unsigned i = 0; i < 4; i++) {
            size_t count_before;

            run(i);
            count_before = count;
            memcpy(pcs_before, pcs, sizeof(pcs));
            CHECK(count_before >= 6);
            for (unsigned j = 0; j < 3; j++)
                if (hooked >> j & 1)
                    CHECK_EQUAL(gait_hook_attach(hooks, functions[j], &listener, NULL, &error), 0);
            run(i);
            CHECK_EQUAL(enters, (unsigned)__builtin_popcount(hooked));
            CHECK_EQUAL(leaves, enters);
            CHECK_EQUAL(count, count_before);
            /* All but those of the two calls of run(). */
            for (size_t j = 0; j < count; j++)
                if (pcs[j] != pcs_before[j])
                    CHECK(pcs[j] - (uintptr_t)compare_with_hooks < 0x1000);
            for (unsigned j = 0; j < 3; j++)
                if (hooked >> j & 1)
                    CHECK_EQUAL(gait_hook_unhook(hooks, functions[j], &error), 0);
        }
    }
    CHECK_EQUAL(gait_hooks_release(hooks, &error), 0);
}

static void hooked_functions_look_like_others(void)
{
    compare_with_hooks();
}

static void hooked_functions_behind_signals_do_too(void)
{
    struct sigaction action = {.sa_handler = handle};

    CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
    by_signal = true;
    compare_with_hooks();
    by_signal = false;
}

static void wrong_arguments_are_refused(void)
{
    struct gait_cpu_context cpu = {.pc = 1};
    struct gait_stack stack = {.size_bytes = sizeof(stack), .pcs = pcs, .capacity = FRAMES_MAX};

    CHECK_EQUAL(gait_stack_capture_from(NULL, &stack), -EINVAL);
    CHECK_EQUAL(gait_stack_capture_from(&cpu, NULL), -EINVAL);
    stack.capacity = 0;
    CHECK_EQUAL(gait_stack_capture_from(&cpu, &stack), -EINVAL);
    stack.capacity = FRAMES_MAX;
    /* Registers that lead nowhere. */
    CHECK_EQUAL(gait_stack_capture_from(&cpu, &stack), 0);
    CHECK_EQUAL(stack.count, 1);
    CHECK_EQUAL(pcs[0], 1);
}

static void modules_are_watched_once(void)
{
    CHECK_EQUAL(stack_modules_watch(&error), 0);
    CHECK_EQUAL(stack_modules_watch(&error), 0);
    CHECK_EQUAL(gait_stack_watch_modules(&error), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(hooked_functions_look_like_others),
    CHECK_CASE(hooked_functions_behind_signals_do_too),
    CHECK_CASE(wrong_arguments_are_refused),
    CHECK_CASE(modules_are_watched_once),
};

CHECK_MAIN(cases)
