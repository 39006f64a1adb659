/* SPDX-License-Identifier: MIT */
/*
 * When what is wanted becomes what is, and when it does not.
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "hook/hook_table_parts.h"

#include "hook/hook_thread.h"
#include "support/check.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define GENERAL_ONLY __attribute__((target("general-regs-only")))

static uint8_t *page;
static struct hook_table *table;
static int entered;

GENERAL_ONLY static void note(struct gait_invocation *invocation)
{
    (void)invocation;
    entered++;
}

static const struct hook_listener listener = {.enter = note, .flags = HOOK_LISTENER_GENERAL_ONLY};

static void put(const char *bytes, size_t count)
{
    memcpy(page, bytes, count);
}

/* Seven bytes at each place: mov eax, imm32; ret. */
static void begin(void)
{
    static const struct hook_threads_options thread_options = {0};
    static const struct hook_table_options options = {0};

    if (page == NULL)
        page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    put("\xb8\x01\x00\x00\x00\xc3\xcc\xb8\x02\x00\x00\x00\xc3\xcc",
        sizeof("\xb8\x01\x00\x00\x00\xc3\xcc\xb8\x02\x00\x00\x00\xc3\xcc") - 1);
    CHECK_EQUAL(hook_threads_begin(&thread_options), 0);
    CHECK_EQUAL(hook_table_create(&options, &table), 0);
    entered = 0;
}

static void end(void)
{
    CHECK_EQUAL(hook_table_destroy(table), 0);
    CHECK(memcmp((const void *)(uintptr_t)(uintptr_t)page, "\xb8\x01\x00\x00\x00\xc3\xcc\xb8", 8) == 0);
}

static int call(uint64_t offset)
{
    return ((int (*)(void))(uintptr_t)((uintptr_t)page + offset))();
}

static int attach(uint64_t offset)
{
    struct hook_target target = {.address = (uintptr_t)page + offset};
    struct hook_attachment *attachment;

    return hook_table_attach(table, &target, &listener, &attachment);
}

static void a_call_by_itself_is_a_transaction(void)
{
    begin();
    CHECK_EQUAL(attach(0), 0);
    CHECK_EQUAL(table->depth, 0);
    CHECK_EQUAL(call(0), 1);
    CHECK_EQUAL(entered, 1);
    end();
}

static void the_outermost_one_counts(void)
{
    begin();
    CHECK_EQUAL(hook_table_begin(table), 0);
    CHECK_EQUAL(hook_table_begin(table), 0);
    CHECK_EQUAL(attach(0), 0);
    CHECK_EQUAL(attach(7), 0);
    CHECK_EQUAL(hook_table_commit(table), 0);
    CHECK_EQUAL(call(0) + call(7), 3);
    CHECK_EQUAL(entered, 0);
    CHECK_EQUAL(hook_table_commit(table), 0);
    CHECK_EQUAL(call(0) + call(7), 3);
    CHECK_EQUAL(entered, 2);
    CHECK_EQUAL(hook_table_commit(table), -EINVAL);
    end();
}

static void what_is_aborted_leaves_nothing(void)
{
    begin();
    CHECK_EQUAL(attach(7), 0);
    CHECK_EQUAL(hook_table_begin(table), 0);
    CHECK_EQUAL(attach(0), 0);
    CHECK_EQUAL(hook_table_unhook(table, (uintptr_t)page + 7), 0);
    hook_table_abort(table);
    CHECK_EQUAL(table->depth, 0);
    CHECK(list_is_empty(&table->dirty_sites));
    CHECK_EQUAL(call(0) + call(7), 3);
    CHECK_EQUAL(entered, 1);
    CHECK(!hook_table_is_hooked(table, (uintptr_t)page, NULL));
    end();
}

static void code_that_changed_meanwhile_undoes_all(void)
{
    begin();
    CHECK_EQUAL(hook_table_begin(table), 0);
    CHECK_EQUAL(attach(7), 0);
    CHECK_EQUAL(attach(0), 0);
    put("\xb8\x09", sizeof("\xb8\x09") - 1);
    CHECK_EQUAL(hook_table_commit(table), -ESTALE);
    CHECK_EQUAL(call(0) + call(7), 11);
    CHECK_EQUAL(entered, 0);
    put("\xb8\x01", sizeof("\xb8\x01") - 1);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(a_call_by_itself_is_a_transaction),
    CHECK_CASE(the_outermost_one_counts),
    CHECK_CASE(what_is_aborted_leaves_nothing),
    CHECK_CASE(code_that_changed_meanwhile_undoes_all),
};

CHECK_MAIN(cases)
