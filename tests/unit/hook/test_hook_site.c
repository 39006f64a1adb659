/* SPDX-License-Identifier: MIT */
/*
 * A site by itself: what it makes of a function, and where displaced instructions are found.
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "hook/hook_site.h"

#include "hook/hook_thread.h"
#include "hook/live_plans.h"
#include "process/forced_memory.h"
#include "support/check.h"

#include <errno.h>
#include <string.h>

static long triple_it(long number)
{
    return number * 3;
}

static struct forced_memory memory;
static struct near_memory code;
static struct pool codes;
static struct live_plans plans;
static struct hook_plan plan;
static struct hook_site site;

static const struct site_maker maker = {&memory, &code, &codes};

static void begin(void)
{
    static const struct hook_threads_options options = {0};

    CHECK_EQUAL(hook_threads_begin(&options), 0);
    CHECK_EQUAL(forced_memory_init(&memory), 0);
    near_memory_init(&code, CODE_VIEW_AUTO, 0);
    CHECK_EQUAL(pool_init(&codes, sizeof(struct site_code)), 0);
    live_plans_init(&plans);
    CHECK_EQUAL(live_plans_at(&plans, (uintptr_t)triple_it, &plan), 0);
}

static void end(void)
{
    live_plans_deinit(&plans);
    near_memory_deinit(&code);
    pool_deinit(&codes);
    forced_memory_deinit(&memory);
}

static void init(void)
{
    const struct site_purpose purpose = {.plan = &plan};

    CHECK_EQUAL(hook_site_init(&site, &purpose, &maker), 0);
}

static void other_bytes_than_expected_are_refused(void)
{
    static const uint8_t other[HOOK_DISPLACED_BYTES_MAX];
    const struct site_purpose purpose = {.plan = &plan, .expected = other};

    begin();
    CHECK_EQUAL(hook_site_init(&site, &purpose, &maker), -ESTALE);
    end();
}

static void a_stub_is_used_again_for_the_same(void)
{
    static const struct site_wish nothing_but_records = {.is_recorded = true};
    static const struct site_wish elsewhere = {.replacement = 0x1000};
    struct site_lead first, second, third;

    begin();
    init();
    CHECK_EQUAL(hook_site_lead(&site, &nothing_but_records, &maker, &first), 0);
    CHECK_EQUAL(first.target, first.stub->entry);
    site.stub = first.stub;
    CHECK_EQUAL(hook_site_lead(&site, &nothing_but_records, &maker, &second), 0);
    CHECK(second.stub == first.stub);
    CHECK_EQUAL(hook_site_lead(&site, &elsewhere, &maker, &third), 0);
    CHECK(third.stub != first.stub);
    CHECK_EQUAL(site.code_count, 3);
    end();
}

/* Each place in the trampoline is of the instruction whose copy begins there, or is in the middle of it. */
static void displaced_instructions_are_found_both_ways(void)
{
    uint64_t copy, original = 0;
    unsigned count = 0;

    begin();
    init();
    CHECK(!hook_site_find_copy(&site, &memory, plan.patch_at, &copy));
    for (uint64_t at = plan.patch_at + 1; at < plan.displaced_end; at++) {
        if (!hook_site_find_copy(&site, NULL, at, &copy))
            continue;
        count++;
        CHECK(hook_site_find_original(&site, &memory, copy, &original));
        CHECK_EQUAL(original, at);
        CHECK(!hook_site_find_original(&site, NULL, copy + 1, &original));
        CHECK_EQUAL(original, at);
    }
    CHECK(count > 0);
    end();
}

static void a_front_calls_the_function_as_it_is(void)
{
    static const struct site_wish records = {.is_recorded = true};
    struct site_lead lead;

    begin();
    hook_site_init_front(&site, (uintptr_t)triple_it);
    CHECK_EQUAL(hook_site_lead(&site, &records, &maker, &lead), 0);
    CHECK_EQUAL(lead.stub->target, (uintptr_t)triple_it);
    end();
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(other_bytes_than_expected_are_refused),
        CHECK_CASE(a_stub_is_used_again_for_the_same),
        CHECK_CASE(displaced_instructions_are_found_both_ways),
        CHECK_CASE(a_front_calls_the_function_as_it_is),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
