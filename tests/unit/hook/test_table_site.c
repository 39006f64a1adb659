/* SPDX-License-Identifier: MIT */
/*
 * A site by itself: it makes the code that is wanted, uses it again, and gives back what is not.
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "hook/table_site.h"

#include "hook/hook_thread.h"
#include "hook/live_plans.h"
#include "hook/patch_transaction.h"
#include "process/forced_memory.h"
#include "support/check.h"

/* Called by a pointer, so that compilers know nothing of it. */
static long triple_it(long number)
{
    return number * 3;
}

static long (*volatile triple)(long number) = triple_it;

static long quadruple(long number)
{
    return number * 4;
}

static struct forced_memory memory;
static struct near_memory code;
static struct pool codes;
static struct live_plans plans;
static struct patch_transaction transaction;
static struct table_site site;

static const struct site_maker maker = {&memory, &code, &codes};

static void begin(void)
{
    static const struct hook_threads_options options = {0};
    struct hook_plan plan;
    const struct site_purpose purpose = {.plan = &plan};

    CHECK_EQUAL(hook_threads_begin(&options), 0);
    CHECK_EQUAL(forced_memory_init(&memory), 0);
    near_memory_init(&code, CODE_VIEW_AUTO, 0);
    CHECK_EQUAL(pool_init(&codes, sizeof(struct site_code)), 0);
    live_plans_init(&plans);
    patch_transaction_init(&transaction);
    CHECK_EQUAL(live_plans_at(&plans, (uintptr_t)triple_it, &plan), 0);
    table_site_init(&site);
    CHECK_EQUAL(hook_site_init(&site.hook, &purpose, &maker), 0);
}

static void end(void)
{
    patch_transaction_deinit(&transaction);
    live_plans_deinit(&plans);
    near_memory_deinit(&code);
    pool_deinit(&codes);
    forced_memory_deinit(&memory);
}

static void commit(void)
{
    struct patch_environment environment = {.memory = &memory};

    CHECK_EQUAL(table_site_build(&site, &transaction, &maker), 0);
    CHECK_EQUAL(near_memory_commit(&code), 0);
    CHECK_EQUAL(patch_transaction_commit(&transaction, &environment), 0);
    table_site_settle(&site);
    site.now = site.wanted;
}

static void want_replacement(long (*replacement)(long), bool is_in_place)
{
    site.wanted = (struct site_wish){.replacement = (uintptr_t)replacement, .is_in_place = is_in_place};
}

static void a_site_does_what_is_wanted_and_is_idle_then(void)
{
    struct site_code *stub;

    begin();
    CHECK_EQUAL(site.hook.code_count, 1);
    CHECK_EQUAL(((long (*)(long))(uintptr_t)site.hook.function.trampoline)(5), 15);
    want_replacement(quadruple, false);
    commit();
    CHECK_EQUAL(triple(5), 20);
    stub = site.hook.stub;
    CHECK(stub != NULL);
    site.wanted = (struct site_wish){0};
    commit();
    CHECK_EQUAL(triple(5), 15);
    CHECK(!site.hook.patch.is_in_place && site.hook.stub == stub);
    want_replacement(quadruple, false);
    commit();
    CHECK(site.hook.stub == stub);
    CHECK_EQUAL(site.hook.code_count, 2);
    CHECK_EQUAL(triple(5), 20);
    want_replacement(quadruple, true);
    commit();
    CHECK(site.hook.stub == NULL);
    CHECK(stub->piece.is_released);
    CHECK_EQUAL(triple(5), 20);
    site.wanted = (struct site_wish){0};
    commit();
    CHECK_EQUAL(triple(5), 15);
    table_site_release(&site);
    end();
}

static void what_is_given_up_changes_nothing(void)
{
    begin();
    want_replacement(quadruple, false);
    CHECK_EQUAL(table_site_build(&site, &transaction, &maker), 0);
    CHECK_EQUAL(transaction.count, 1);
    CHECK(site.next.stub != NULL);
    CHECK_EQUAL(near_memory_commit(&code), 0);
    table_site_give_up(&site);
    CHECK(site.hook.stub == NULL && site.next.stub == NULL);
    CHECK_EQUAL(triple(5), 15);
    end();
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(a_site_does_what_is_wanted_and_is_idle_then),
        CHECK_CASE(what_is_given_up_changes_nothing),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
