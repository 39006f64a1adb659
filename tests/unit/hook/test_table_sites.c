/* SPDX-License-Identifier: MIT */
/*
 * Which bytes of code belong to which site, and what becomes of sites that nobody wants; and of those that are ordered.
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "hook/hook_table_parts.h"

#include "hook/hook_thread.h"
#include "support/check.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static uint8_t *page;
static struct hook_table *table;

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
    CHECK_EQUAL(hook_table_begin(table), 0);
}

static void end(void)
{
    hook_table_abort(table);
    CHECK_EQUAL(hook_table_destroy(table), 0);
}

static struct hook_target at(uint64_t offset)
{
    return (struct hook_target){.address = (uintptr_t)page + offset};
}

static struct table_site *obtain(uint64_t offset)
{
    struct hook_target target = at(offset);
    struct table_site *site = NULL;

    CHECK_EQUAL(table_sites_obtain(table, &target, &site), 0);
    return site;
}

static void there_is_one_site_at_an_address(void)
{
    struct table_site *first, *second;

    begin();
    CHECK(table_sites_find(table, at(0).address) == NULL);
    first = obtain(0);
    second = obtain(7);
    CHECK(first != NULL && second != NULL && first != second);
    CHECK(obtain(0) == first);
    CHECK(table_sites_find(table, at(0).address) == first);
    CHECK_EQUAL(table->site_count, 2);
    end();
}

static void bytes_belong_to_one_site(void)
{
    struct hook_target probe = {.is_probe = true};
    struct table_site *site;

    begin();
    memset(page + 16, 0x90, 16);
    page[32] = 0xc3;
    probe.address = at(16).address;
    CHECK_EQUAL(table_sites_obtain(table, &probe, &site), 0);
    probe.address = at(18).address;
    CHECK_EQUAL(table_sites_obtain(table, &probe, &site), -EBUSY);
    probe.address = at(22).address;
    CHECK_EQUAL(table_sites_obtain(table, &probe, &site), 0);
    end();
}

static void one_in_use_is_either_a_function_or_a_probe(void)
{
    struct hook_target probe = {.is_probe = true};
    struct table_site *site;

    begin();
    probe.address = at(0).address;
    obtain(0)->wanted.replacement = 1;
    CHECK_EQUAL(table_sites_obtain(table, &probe, &site), -EBUSY);
    obtain(0)->wanted.replacement = 0;
    CHECK_EQUAL(table_sites_obtain(table, &probe, &site), 0);
    CHECK(site->hook.is_probe);
    end();
}

static void one_that_is_buried_is_not_found_and_its_bytes_are_free(void)
{
    struct table_site *site;

    begin();
    site = obtain(0);
    CHECK(table_site_is_idle(site));
    CHECK(site->has_taken_bytes);
    table_sites_give_bytes_back(table, site);
    CHECK(!site->has_taken_bytes);
    table_sites_bury(table, site);
    CHECK(table_sites_find(table, at(0).address) == NULL);
    CHECK_EQUAL(table->site_count, 0);
    CHECK(obtain(0) != NULL);
    end();
}

static void an_idle_one_is_made_anew_if_its_code_changed(void)
{
    struct table_site *site;
    uint64_t trampoline;

    begin();
    site = obtain(0);
    trampoline = site->hook.patch.trampoline.start;
    CHECK_EQUAL(obtain(0)->hook.patch.trampoline.start, trampoline);
    CHECK_EQUAL(table->retired_count, 0);
    put("\xb8\x63", sizeof("\xb8\x63") - 1);
    CHECK(obtain(0)->hook.patch.trampoline.start != trampoline);
    CHECK_EQUAL(table->retired_count, 1);
    CHECK_EQUAL(table->site_count, 1);
    end();
}

static void our_own_code_is_known(void)
{
    begin();
    CHECK(!hook_table_has_code(table, at(0).address));
    CHECK(hook_table_has_code(table, obtain(0)->hook.patch.trampoline.start));
    table->options.own_start = at(0).address;
    table->options.own_end = at(1).address;
    CHECK(hook_table_has_code(table, at(0).address));
    end();
}

/* ---- orders ------------------------------------------------------------------------------------------------------ */

static unsigned entered;

__attribute__((target("general-regs-only"))) static void note_enter(struct gait_invocation *invocation)
{
    (void)invocation;
    entered++;
}

static const struct hook_listener listener = {.enter = note_enter, .flags = HOOK_LISTENER_GENERAL_ONLY};

static void begin_held(void)
{
    static const struct hook_threads_options thread_options = {0};
    static const struct hook_table_options options = {.is_held = true};

    begin();
    end();
    CHECK_EQUAL(hook_threads_begin(&thread_options), 0);
    CHECK_EQUAL(hook_table_create(&options, &table), 0);
    entered = 0;
}

static int order(uint64_t offset, const struct hook_site **site_out)
{
    const struct hook_order wanted = {.target = at(offset), .listeners = &listener, .listener_count = 1, .use = 3};

    return hook_table_order(table, &wanted, site_out);
}

static int call_at(uint64_t address)
{
    return ((int (*)(void))(uintptr_t)address)();
}

static void what_was_ordered_keeps_its_bytes(void)
{
    const struct hook_site *site, *other;

    begin_held();
    CHECK_EQUAL(order(0, &site), -EINVAL);
    CHECK_EQUAL(hook_table_begin(table), 0);
    CHECK_EQUAL(order(0, &site), 0);
    CHECK_EQUAL(site->use, 3);
    CHECK_EQUAL(order(0, &other), -EBUSY);
    CHECK_EQUAL(page[0], 0xb8);
    CHECK_EQUAL(hook_table_make(table), 0);
    CHECK(site->patch.is_in_place && page[0] != 0xb8);
    CHECK_EQUAL(call_at(at(0).address), 1);
    CHECK_EQUAL(entered, 1);
    CHECK(hook_table_find_site(table, at(1).address) == site);
    hook_table_cancel(table, site);
    CHECK_EQUAL(hook_table_make(table), 0);
    CHECK(!site->patch.is_in_place && page[0] == 0xb8);
    CHECK(hook_table_find_site(table, at(1).address) == site);
    CHECK_EQUAL(call_at(at(0).address), 1);
    CHECK_EQUAL(entered, 1);
    hook_table_pause(table);
    CHECK_EQUAL(hook_table_destroy(table), 0);
}

static void an_order_waits_for_the_next_transaction_or_is_cancelled(void)
{
    const struct hook_site *first, *second;

    begin_held();
    CHECK_EQUAL(hook_table_begin(table), 0);
    CHECK_EQUAL(order(0, &first), 0);
    CHECK_EQUAL(order(7, &second), 0);
    hook_table_pause(table);
    CHECK_EQUAL(hook_table_begin(table), 0);
    hook_table_cancel(table, first);
    CHECK_EQUAL(hook_table_make(table), 0);
    CHECK(!first->patch.is_in_place && second->patch.is_in_place);
    CHECK_EQUAL(call_at(at(0).address) + call_at(at(7).address), 3);
    CHECK_EQUAL(entered, 1);
    CHECK_EQUAL(hook_table_forget_range(table, at(0).address, at(64).address), 2);
    CHECK(hook_table_find_site(table, at(7).address) == NULL);
    hook_table_pause(table);
    CHECK_EQUAL(hook_table_destroy(table), 0);
}

static void a_front_calls_the_function_as_it_is(void)
{
    uint64_t entry = 0;

    begin_held();
    CHECK_EQUAL(hook_table_make_front(table, at(7).address, &listener, &entry), 0);
    CHECK(hook_table_has_code(table, entry));
    CHECK_EQUAL(page[7], 0xb8);
    CHECK_EQUAL(call_at(entry), 2);
    CHECK_EQUAL(entered, 1);
    CHECK_EQUAL(hook_table_destroy(table), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(there_is_one_site_at_an_address),
    CHECK_CASE(bytes_belong_to_one_site),
    CHECK_CASE(one_in_use_is_either_a_function_or_a_probe),
    CHECK_CASE(one_that_is_buried_is_not_found_and_its_bytes_are_free),
    CHECK_CASE(an_idle_one_is_made_anew_if_its_code_changed),
    CHECK_CASE(our_own_code_is_known),
    CHECK_CASE(what_was_ordered_keeps_its_bytes),
    CHECK_CASE(an_order_waits_for_the_next_transaction_or_is_cancelled),
    CHECK_CASE(a_front_calls_the_function_as_it_is),
};

CHECK_MAIN(cases)
