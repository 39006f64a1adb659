/* SPDX-License-Identifier: MIT */
/*
 * All functions of libc are hooked and unhooked while threads use them. What single hooks do is tested by
 * tests/unit/libgait/test_hook.c.
 * configurations: debug-*
 * time limit: 180 s
 */
#define _GNU_SOURCE
#include "hook/hook_table.h"

#include "elf/function_list.h"
#include "hook/hook_thread.h"
#include "support/check.h"
#include "support/libc_hammer.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GENERAL_ONLY __attribute__((target("general-regs-only")))

static struct hook_table *table;
static _Atomic unsigned long entered, left;

GENERAL_ONLY static void note_enter(struct gait_invocation *invocation)
{
    (void)invocation;
    atomic_fetch_add_explicit(&entered, 1, memory_order_relaxed);
}

GENERAL_ONLY static void note_leave(struct gait_invocation *invocation)
{
    (void)invocation;
    atomic_fetch_add_explicit(&left, 1, memory_order_relaxed);
}

static const struct hook_listener listener = {
    .enter = note_enter, .leave = note_leave, .flags = HOOK_LISTENER_GENERAL_ONLY};

static uint64_t *addresses;
static size_t address_count, address_capacity;

/* Traps are for tests of their own: threads of libc block all signals now and then. */
static bool attach_function(void *context, const struct elf_function *function, const struct hook_plan *plan)
{
    struct hook_target target = {.address = plan->address, .plan = plan, .without_traps = true};
    struct hook_attachment *attachment;

    (void)context;
    if (function->is_resolver || function->is_label || address_count == address_capacity ||
        hook_table_attach(table, &target, &listener, &attachment) != 0)
        return false;
    addresses[address_count++] = plan->address;
    return true;
}

static int hook_all(void)
{
    int result = hook_table_begin(table);

    address_count = 0;
    if (result == 0)
        result = hook_table_plan_module(table, libc_hammer_address(), attach_function, NULL);
    if (result != 0)
        return result;
    return hook_table_commit(table);
}

/* They lie idle since the last time, and need no plan. */
static int hook_again(void)
{
    int result = hook_table_begin(table);

    for (size_t i = 0; i < address_count && result == 0; i++) {
        struct hook_target target = {.address = addresses[i]};
        struct hook_attachment *attachment;

        result = hook_table_attach(table, &target, &listener, &attachment);
    }
    return result != 0 ? result : hook_table_commit(table);
}

static int unhook_all(void)
{
    int result = hook_table_begin(table);

    for (size_t i = 0; i < address_count && result == 0; i++)
        result = hook_table_unhook(table, addresses[i]);
    return result != 0 ? result : hook_table_commit(table);
}

/* TIMES in the environment: how often, else for some seconds. */
static void libc_is_hooked_and_unhooked_while_threads_use_it(void)
{
    static const struct hook_threads_options thread_options = {0};
    static const struct hook_table_options options = {0};
    const char *times_text = getenv("TIMES");
    long times = times_text == NULL ? 100000 : atol(times_text), done = 0;
    int64_t until = times_text == NULL ? libc_hammer_now_ns() + 8000000000 : INT64_MAX;
    struct hook_table_statistics statistics;
    unsigned long before;

    address_capacity = 16384;
    addresses = calloc(address_capacity, sizeof(*addresses));
    CHECK_EQUAL(hook_threads_begin(&thread_options), 0);
    CHECK_EQUAL(hook_table_create(&options, &table), 0);
    libc_hammer_start();
    for (; done < times && libc_hammer_now_ns() < until; done++) {
        CHECK_EQUAL(done % 8 == 0 ? hook_all() : hook_again(), 0);
        CHECK(address_count > 1000);
        usleep(1000);
        CHECK_EQUAL(unhook_all(), 0);
        if (done % 8 == 7)
            CHECK_EQUAL(hook_table_collect(table, &statistics), 0);
        if (check_failures > 0)
            break;
    }
    before = atomic_load(&entered);
    CHECK_EQUAL(libc_hammer_stop(), 0);
    CHECK(before > 0 && atomic_load(&left) > 0);
    CHECK_EQUAL(hook_table_collect(table, &statistics), 0);
    CHECK_EQUAL(hook_table_collect(table, &statistics), 0);
    CHECK_EQUAL(statistics.site_count, 0);
    printf("%zu functions hooked %ld times; %lu calls entered, %lu left; %ld rounds; %zu sites and %zu chunks kept\n",
           address_count, done, atomic_load(&entered), atomic_load(&left), libc_hammer_rounds(),
           statistics.retired_count, statistics.chunk_count);
    CHECK_EQUAL(hook_table_destroy(table), 0);
    free(addresses);
}

static void calls_are_told_of_all_functions(void)
{
    static const struct hook_table_options options = {0};
    unsigned long before;

    address_capacity = 16384;
    addresses = calloc(address_capacity, sizeof(*addresses));
    CHECK_EQUAL(hook_table_create(&options, &table), 0);
    CHECK_EQUAL(hook_all(), 0);
    before = atomic_load(&entered);
    CHECK_EQUAL(libc_hammer_once(7), 0);
    CHECK(atomic_load(&entered) - before > 300);
    CHECK_EQUAL(hook_table_destroy(table), 0);
    before = atomic_load(&entered);
    CHECK_EQUAL(libc_hammer_once(7), 0);
    CHECK_EQUAL(atomic_load(&entered), before);
    free(addresses);
}

static void a_transaction_that_was_not_begun_cannot_be_committed(void)
{
    static const struct hook_table_options options = {0};

    CHECK_EQUAL(hook_table_create(&options, &table), 0);
    CHECK_EQUAL(hook_table_commit(table), -EINVAL);
    hook_table_abort(table);
    CHECK_EQUAL(hook_table_unhook(table, 1), -ENOENT);
    CHECK(!hook_table_is_hooked(table, 1, NULL));
    CHECK_EQUAL(hook_table_destroy(table), 0);
    CHECK_EQUAL(hook_table_destroy(NULL), 0);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(libc_is_hooked_and_unhooked_while_threads_use_it),
        CHECK_CASE(calls_are_told_of_all_functions),
        CHECK_CASE(a_transaction_that_was_not_begun_cannot_be_committed),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
