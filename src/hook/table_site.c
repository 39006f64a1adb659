/* SPDX-License-Identifier: MIT */
/*
 * A site whose patch was taken away keeps its trampoline and its stub: who hooks the same again needs no new ones, and
 * a thread that is in them is safe.
 *
 * Invariant: between table_site_build and settle or give_up, `next` is what the patch will lead to; its stub is that of
 * the site where that fits. No lock: the table has it.
 */
#include "hook/table_site.h"

#include "hook/patch_transaction.h"
#include "hook/trap_table.h"
#include "process/forced_memory.h"

void table_site_init(struct table_site *site)
{
    *site = (struct table_site){0};
    list_init(&site->attachments);
    list_init(&site->node);
    list_init(&site->dirty);
}

bool table_site_is_idle(const struct table_site *site)
{
    return site_wish_is_empty(&site->now) && site_wish_is_empty(&site->wanted) && !site->hook.patch.is_in_place;
}

static int add_change(struct table_site *site, struct patch_transaction *transaction)
{
    struct patch *patch = &site->hook.patch;

    if (!patch->is_in_place)
        return patch_transaction_install(transaction, patch, site->next.target);
    if (site->next.stub == site->hook.stub && site->hook.stub != NULL)
        return 0;
    return patch_transaction_retarget(transaction, patch, site->next.target);
}

static int add_trap(const struct table_site *site)
{
    const struct hook_plan *plan = &site->hook.patch.plan;

    return plan->method != HOOK_TRAP ? 0 : trap_table_set(plan->patch_at, site->next.target);
}

/*
 * Code that is gone, as that of a library that was unloaded, or that somebody else has changed, is not brought back.
 * Who orders hooks says when code is gone.
 */
static bool is_still_there(const struct patch *patch, const struct forced_memory *memory)
{
    uint8_t bytes[REDIRECT_BYTES_MAX];
    uint32_t size = patch->plan.patch_bytes;

    return forced_memory_read(memory, patch->plan.patch_at, bytes, size) == size &&
           __builtin_memcmp(bytes, patch->redirect.bytes, size) == 0;
}

static int take_away(struct table_site *site, struct patch_transaction *transaction, const struct site_maker *maker)
{
    struct patch *patch = &site->hook.patch;

    site->next.stub = site->hook.stub;
    if (patch->is_in_place && !site->now.is_ordered && !is_still_there(patch, maker->memory))
        patch->is_in_place = false;
    return patch->is_in_place ? patch_transaction_remove(transaction, patch) : 0;
}

int table_site_build(struct table_site *site, struct patch_transaction *transaction, const struct site_maker *maker)
{
    int result;

    site->next.stub = NULL;
    if (site_wish_is_empty(&site->wanted))
        return take_away(site, transaction, maker);
    result = hook_site_lead(&site->hook, &site->wanted, maker, &site->next);
    if (result == 0)
        result = add_change(site, transaction);
    return result != 0 ? result : add_trap(site);
}

void table_site_settle(struct table_site *site)
{
    struct hook_site *hook = &site->hook;

    if (site->next.stub != hook->stub)
        site_code_release(hook->stub);
    hook->stub = site->next.stub;
    site->next.stub = NULL;
    site->is_built = false;
    if (!hook->patch.is_in_place && hook->patch.plan.method == HOOK_TRAP)
        trap_table_clear(hook->patch.plan.patch_at);
}

/* A trap leads where it led. */
void table_site_give_up(struct table_site *site)
{
    const struct hook_site *hook = &site->hook;

    if (site->next.stub != hook->stub)
        site_code_release(site->next.stub);
    site->next.stub = NULL;
    site->is_built = false;
    if (hook->patch.plan.method != HOOK_TRAP)
        return;
    if (hook->patch.is_in_place && hook->stub != NULL)
        (void)!trap_table_set(hook->patch.plan.patch_at, hook->stub->entry);
    else
        trap_table_clear(hook->patch.plan.patch_at);
}

void table_site_release(struct table_site *site)
{
    site_code_release(site->hook.stub);
    site->hook.stub = NULL;
    if (!site->is_exposed) {
        site_code_release(site->hook.trampoline);
        site->hook.trampoline = NULL;
    }
}
