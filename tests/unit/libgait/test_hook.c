/* SPDX-License-Identifier: MIT */
/*
 * Hooks as a program uses them: who is told of what, in which order, and what listeners can see and change.
 *
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "gait/hook.h"

#include "gait/stalker.h"
#include "support/check.h"
#include "support/hook_log.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int executable_mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    char line[1024];
    int count = 0;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        count += strstr(line, " rwxp ") != NULL;
    fclose(file);
    return count;
}

/* ---- being told ---------------------------------------------------------------------------------------------------
 */

static void a_listener_is_told_of_calls_and_returns(void)
{
    struct gait_hook *hook;

    begin();
    hook = attach(add, 0);
    CHECK_EQUAL(gait_hook_method_of(hooks, (uintptr_t)add), GAIT_HOOK_JUMP);
    CHECK_EQUAL(add(2, 3), 5);
    CHECK_EQUAL(logs[0].entered, 1);
    CHECK_EQUAL(logs[0].left, 1);
    CHECK_EQUAL(logs[0].arguments[0], 2);
    CHECK_EQUAL(logs[0].arguments[1], 3);
    CHECK_EQUAL(logs[0].result, 5);
    CHECK_EQUAL(logs[0].last.function, (uintptr_t)add);
    CHECK_EQUAL(logs[0].last.thread_id, syscall(SYS_gettid));
    detach(hook);
    CHECK_EQUAL(gait_hook_method_of(hooks, (uintptr_t)add), GAIT_HOOK_NONE);
    CHECK_EQUAL(add(2, 3), 5);
    CHECK_EQUAL(logs[0].entered, 1);
    end();
}

static void the_code_and_the_memory_are_what_they_were_afterwards(void)
{
    uint8_t before[32], after[32];
    int mappings = executable_mappings();
    struct gait_hook *hook;

    begin();
    memcpy(before, (void *)add, sizeof(before));
    hook = attach(add, 0);
    memcpy(after, (void *)add, sizeof(after));
    CHECK(memcmp(before, after, sizeof(before)) != 0);
    detach(hook);
    memcpy(after, (void *)add, sizeof(after));
    CHECK(memcmp(before, after, sizeof(before)) == 0);
    end();
    CHECK_EQUAL(executable_mappings(), mappings);
}

static void several_listeners_are_told_in_their_order(void)
{
    struct gait_hook *attached[4];

    begin();
    for (unsigned i = 0; i < 4; i++)
        attached[i] = attach(add, i);
    CHECK_EQUAL(add(1, 1), 2);
    CHECK_EQUAL(logs[0].order_length, 8);
    CHECK(memcmp(logs[0].order, "abcd", 4) == 0);
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQUAL(logs[i].left, 1);
    detach(attached[1]);
    detach(attached[0]);
    CHECK_EQUAL(add(1, 1), 2);
    CHECK_EQUAL(logs[0].entered, 1);
    CHECK_EQUAL(logs[1].entered, 1);
    CHECK_EQUAL(logs[2].entered, 2);
    CHECK_EQUAL(logs[3].left, 2);
    detach(attached[3]);
    detach(attached[2]);
    CHECK_EQUAL(gait_hook_method_of(hooks, (uintptr_t)add), GAIT_HOOK_NONE);
    end();
}

static void recursion_is_told_with_its_depth(void)
{
    struct gait_hook *hook;

    begin();
    hook = attach(factorial, 0);
    CHECK_EQUAL(factorial(5), 120);
    CHECK_EQUAL(logs[0].entered, 5);
    CHECK_EQUAL(logs[0].left, 5);
    CHECK_EQUAL(logs[0].deepest, 4);
    detach(hook);
    end();
}

static void double_first_argument(struct gait_invocation *invocation)
{
    gait_invocation_argument_set(invocation, 0, 2 * gait_invocation_argument(invocation, 0));
}

static void negate_result(struct gait_invocation *invocation)
{
    gait_invocation_return_value_set(invocation, -gait_invocation_return_value(invocation));
}

static void arguments_and_results_can_be_changed(void)
{
    struct gait_listener listener = {
        .size_bytes = sizeof(listener), .enter = double_first_argument, .leave = negate_result};
    struct gait_hook *hook;

    begin();
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)add, &listener, &hook, &error), 0);
    CHECK_EQUAL(add(10, 1), -21);
    detach(hook);
    CHECK_EQUAL(add(10, 1), 11);
    end();
}

static void arguments_on_the_stack_are_found(void)
{
    struct gait_hook *hook;

    begin();
    hook = attach(add_more, 0);
    CHECK_EQUAL(add_more(1, 2, 3, 4, 5, 6, 7, 8), 204);
    for (unsigned i = 0; i < 8; i++)
        CHECK_EQUAL(logs[0].arguments[i], i + 1);
    detach(hook);
    end();
}

static void spoil_vectors(struct gait_invocation *invocation)
{
    volatile double spoiled = (double)invocation->depth + 1.5;

    spoiled = spoiled * 3.25;
    __asm__ volatile("pcmpeqd %%xmm0, %%xmm0; movdqa %%xmm0, %%xmm1; movdqa %%xmm0, %%xmm15" ::
                         : "xmm0", "xmm1", "xmm15");
}

static void vector_registers_are_what_they_were(void)
{
    struct gait_listener listener = {.size_bytes = sizeof(listener), .enter = spoil_vectors, .leave = spoil_vectors};
    struct gait_hook *hook;

    begin();
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)halve, &listener, &hook, &error), 0);
    CHECK(halve(5.0) == 2.5);
    detach(hook);
    end();
}

static int seen_errno;

static void see_errno(struct gait_invocation *invocation)
{
    seen_errno = invocation->error_number;
    errno = ENOTDIR; /* a listener's own calls must not show */
    invocation->error_number = seen_errno == EAGAIN ? EINTR : seen_errno;
}

static void errno_is_seen_changed_and_kept(void)
{
    struct gait_listener listener = {.size_bytes = sizeof(listener), .leave = see_errno};
    struct gait_hook *hook;

    begin();
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)fail_with, &listener, &hook, &error), 0);
    CHECK_EQUAL(fail_with(EBADF), -1);
    CHECK_EQUAL(errno, EBADF);
    CHECK_EQUAL(seen_errno, EBADF);
    fail_with(EAGAIN);
    CHECK_EQUAL(errno, EINTR);
    detach(hook);
    end();
}

static void check_call_data(struct gait_invocation *invocation)
{
    const struct log *log = invocation->data;

    CHECK(invocation->call_data != NULL);
    CHECK(*(int *)invocation->call_data > 0 && *(int *)invocation->call_data <= log->entered);
    logs[1].left += *(int *)invocation->call_data;
}

static void data_of_a_call_is_kept_from_enter_to_leave(void)
{
    struct gait_listener listener = listener_for(0);
    struct gait_hook *hook;

    memset(&logs[1], 0, sizeof(logs[1]));
    listener.leave = check_call_data;
    begin();
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)factorial, &listener, &hook, &error), 0);
    CHECK_EQUAL(factorial(4), 24);
    CHECK_EQUAL(logs[1].left, 1 + 2 + 3 + 4);
    detach(hook);
    end();
}

/* ---- who is ignored -----------------------------------------------------------------------------------------------
 */

static void *add_in_thread(void *context)
{
    add(1, 2);
    return context;
}

static void call_in_thread(void)
{
    pthread_t thread;

    CHECK_EQUAL(pthread_create(&thread, NULL, add_in_thread, NULL), 0);
    pthread_join(thread, NULL);
}

static void a_thread_can_be_ignored(void)
{
    struct gait_hook *hook;

    begin();
    hook = attach(add, 0);
    gait_hooks_ignore_me(hooks);
    gait_hooks_ignore_me(hooks);
    add(1, 2);
    gait_hooks_listen_to_me(hooks);
    add(1, 2);
    CHECK_EQUAL(logs[0].entered, 0);
    call_in_thread();
    CHECK_EQUAL(logs[0].entered, 1);
    gait_hooks_listen_to_me(hooks);
    add(1, 2);
    CHECK_EQUAL(logs[0].entered, 2);
    CHECK_EQUAL(gait_hooks_ignore_others(hooks, &error), 0);
    call_in_thread();
    add(1, 2);
    CHECK_EQUAL(logs[0].entered, 3);
    gait_hooks_listen_to_others(hooks);
    call_in_thread();
    CHECK_EQUAL(logs[0].entered, 4);
    detach(hook);
    end();
}

static void call_factorial(struct gait_invocation *invocation)
{
    (void)invocation;
    CHECK_EQUAL(factorial(3), 6);
}

static void what_a_listener_calls_is_not_told(void)
{
    struct gait_listener listener = {.size_bytes = sizeof(listener), .enter = call_factorial, .leave = call_factorial};
    struct gait_hook *hook, *inner;

    begin();
    inner = attach(factorial, 1);
    CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)add, &listener, &hook, &error), 0);
    CHECK_EQUAL(add(1, 1), 2);
    CHECK_EQUAL(logs[1].entered, 0);
    detach(hook);
    detach(inner);
    end();
}

/* ---- detaching in the middle --------------------------------------------------------------------------------------
 */

static struct gait_hook *own_hook;

static void detach_oneself(struct gait_invocation *invocation)
{
    atomic_fetch_add(&calls, 1);
    CHECK_EQUAL(gait_hook_detach(hooks, own_hook, &error), 0);
    (void)invocation;
}

static void a_listener_can_detach_itself(void)
{
    struct gait_listener listener = {.size_bytes = sizeof(listener), .enter = detach_oneself, .leave = count_call};

    begin();
    atomic_store(&calls, 0);
    for (int i = 0; i < 20; i++) {
        CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)add, &listener, &own_hook, &error), 0);
        CHECK_EQUAL(add(20, 22), 42);
        CHECK_EQUAL(add(20, 22), 42);
    }
    CHECK_EQUAL(atomic_load(&calls), 20);
    end();
}

static atomic_int waiting, may_return;

static NOINLINE int wait_long(int number)
{
    atomic_fetch_add(&waiting, 1);
    while (!atomic_load(&may_return))
        usleep(200);
    return number + 1;
}

static void *wait_in_thread(void *context)
{
    return (void *)(intptr_t)wait_long((int)(intptr_t)context);
}

static void unhooking_during_a_call_leaves_the_call_alone(void)
{
    struct gait_hooks_statistics before = {.size_bytes = sizeof(before)}, statistics = before;
    pthread_t thread;
    void *result;

    begin();
    CHECK_EQUAL(gait_hooks_collect(hooks, &before, &error), 0);
    atomic_store(&waiting, 0);
    atomic_store(&may_return, 0);
    detach(attach(add, 1));
    (void)attach(wait_long, 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, wait_in_thread, (void *)41), 0);
    while (atomic_load(&waiting) == 0)
        usleep(200);
    CHECK_EQUAL(gait_hook_unhook(hooks, (uintptr_t)wait_long, &error), 0);
    CHECK_EQUAL(gait_hooks_collect(hooks, &statistics, &error), 0);
    CHECK(statistics.retired >= 1);
    CHECK(statistics.chunks >= 1);
    atomic_store(&may_return, 1);
    pthread_join(thread, &result);
    CHECK_EQUAL((intptr_t)result, 42);
    CHECK_EQUAL(logs[0].entered, 1);
    CHECK_EQUAL(logs[0].left, 0);
    CHECK_EQUAL(gait_hooks_collect(hooks, &statistics, &error), 0);
    CHECK_EQUAL(gait_hooks_collect(hooks, &statistics, &error), 0);
    CHECK_EQUAL(statistics.hooked, before.hooked);
    CHECK_EQUAL(statistics.retired, 0);
    end();
}

static void everything_can_be_released_during_a_call_that_returns_much_later(void)
{
    pthread_t thread;
    void *result;

    begin();
    atomic_store(&waiting, 0);
    atomic_store(&may_return, 0);
    (void)attach(wait_long, 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, wait_in_thread, (void *)6), 0);
    while (atomic_load(&waiting) == 0)
        usleep(200);
    end();
    atomic_store(&may_return, 1);
    pthread_join(thread, &result);
    CHECK_EQUAL((intptr_t)result, 7);
}

static void *add_forever(void *context)
{
    long wrong = 0;

    while (!atomic_load((atomic_bool *)context))
        wrong += add(1, 2) != 3 || factorial(5) != 120;
    return (void *)wrong;
}

static void attaching_and_detaching_while_threads_call_does_no_harm(void)
{
    atomic_bool ended = false;
    pthread_t threads[8];

    begin();
    for (int i = 0; i < 8; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, add_forever, &ended), 0);
    for (int i = 0; i < 150; i++) {
        struct gait_hook *first = attach(add, 0), *second = attach(factorial, 1);

        if (i % 3 == 0)
            usleep(100);
        detach(first);
        detach(second);
        if (i % 10 == 0)
            CHECK_EQUAL(gait_hooks_collect(hooks, NULL, &error), 0);
    }
    atomic_store(&ended, true);
    for (int i = 0; i < 8; i++) {
        void *wrong;

        pthread_join(threads[i], &wrong);
        CHECK_EQUAL((intptr_t)wrong, 0);
    }
    end();
}

/* ---- with the stalker ---------------------------------------------------------------------------------------------
 */

static void a_hooked_function_is_hooked_in_followed_threads(void)
{
    struct gait_stalker *stalker;
    struct gait_hook *hook;
    long sum = 0;

    begin();
    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, &error), 0);
    CHECK_EQUAL(gait_stalker_follow_me(stalker, NULL, &error), 0);
    for (int i = 0; i < 10; i++)
        sum += add(i, 1);
    hook = attach(add, 0);
    for (int i = 0; i < 10; i++)
        sum += add(i, 1);
    detach(hook);
    for (int i = 0; i < 10; i++)
        sum += add(i, 1);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, &error), 0);
    CHECK_EQUAL(sum, 3 * 55);
    CHECK_EQUAL(logs[0].entered, 10);
    CHECK_EQUAL(logs[0].left, 10);
    gait_stalker_destroy(stalker);
    end();
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(a_listener_is_told_of_calls_and_returns),
        CHECK_CASE(the_code_and_the_memory_are_what_they_were_afterwards),
        CHECK_CASE(several_listeners_are_told_in_their_order),
        CHECK_CASE(recursion_is_told_with_its_depth),
        CHECK_CASE(arguments_and_results_can_be_changed),
        CHECK_CASE(arguments_on_the_stack_are_found),
        CHECK_CASE(vector_registers_are_what_they_were),
        CHECK_CASE(errno_is_seen_changed_and_kept),
        CHECK_CASE(data_of_a_call_is_kept_from_enter_to_leave),
        CHECK_CASE(a_thread_can_be_ignored),
        CHECK_CASE(what_a_listener_calls_is_not_told),
        CHECK_CASE(a_listener_can_detach_itself),
        CHECK_CASE(unhooking_during_a_call_leaves_the_call_alone),
        CHECK_CASE(everything_can_be_released_during_a_call_that_returns_much_later),
        CHECK_CASE(attaching_and_detaching_while_threads_call_does_no_harm),
        CHECK_CASE(a_hooked_function_is_hooked_in_followed_threads),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
