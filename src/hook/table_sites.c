/* SPDX-License-Identifier: MIT */
/* The sites of the table: made, found, and given back when the last thread is out of their code. */
#include "hook/hook_table_parts.h"

#include <asm/errno.h>

const struct hook_site *hook_table_find_site(const struct hook_table *table, uint64_t address)
{
    struct interval found;

    return interval_map_find(&table->taken, address, &found) ? &((struct table_site *)(uintptr_t)found.value)->hook
                                                             : NULL;
}

struct table_site *table_sites_find(const struct hook_table *table, uint64_t address)
{
    uint64_t value;

    return hash_map_lookup(&table->sites, address, &value) ? (struct table_site *)(uintptr_t)value : NULL;
}

static void free_if_unused(struct hook_table *table, struct table_site *site)
{
    if (!site->is_dead || site->hook.code_count > 0)
        return;
    list_remove(&site->node);
    list_remove(&site->dirty);
    pool_free(&table->call_pool, site->hook.call);
    pool_free(&table->site_pool, site);
    table->retired_count--;
}

void table_sites_forget_code(void *context, struct near_piece *piece)
{
    struct hook_table *table = context;
    struct site_code *code = (struct site_code *)piece;        /* its first member */
    struct table_site *site = (struct table_site *)code->site; /* the same */

    pool_free(&table->code_pool, code);
    site->hook.code_count--;
    free_if_unused(table, site);
}

/* ---- bytes that belong to sites ---------------------------------------------------------------------------------- */

static int take_bytes(struct hook_table *table, struct table_site *site)
{
    const struct hook_plan *plan = &site->hook.patch.plan;
    int result;

    if (site->has_taken_bytes)
        return 0;
    result = interval_map_insert(&table->taken, plan->patch_at, hook_site_end(&site->hook), (uintptr_t)site);
    if (result == 0 && plan->hop_bytes > 0) {
        result = interval_map_insert(&table->taken, plan->hop_at, plan->hop_at + plan->hop_bytes, (uintptr_t)site);
        if (result != 0)
            (void)!interval_map_remove(&table->taken, plan->patch_at, hook_site_end(&site->hook));
    }
    site->has_taken_bytes = result == 0;
    return result == -EEXIST ? -EBUSY : result;
}

/* Whole ranges are removed, which needs no memory. */
void table_sites_give_bytes_back(struct hook_table *table, struct table_site *site)
{
    const struct hook_plan *plan = &site->hook.patch.plan;

    if (!site->has_taken_bytes)
        return;
    (void)!interval_map_remove(&table->taken, plan->patch_at, hook_site_end(&site->hook));
    if (plan->hop_bytes > 0)
        (void)!interval_map_remove(&table->taken, plan->hop_at, plan->hop_at + plan->hop_bytes);
    site->has_taken_bytes = false;
}

/* ---- sites ------------------------------------------------------------------------------------------------------- */

void table_sites_bury(struct hook_table *table, struct table_site *site)
{
    (void)hash_map_remove(&table->sites, site->hook.function.address);
    table_sites_give_bytes_back(table, site);
    live_plans_release(&table->plans, &site->hook.patch.plan);
    table_site_release(site);
    site->is_dead = true;
    table->site_count--;
    table->retired_count++;
    free_if_unused(table, site);
}

bool hook_table_has_code(const struct hook_table *table, uint64_t address)
{
    return (address >= table->options.own_start && address < table->options.own_end) ||
           near_memory_contains(&table->code, address);
}

static int make_plan(struct hook_table *table, const struct hook_target *target, struct hook_plan *plan_out)
{
    int result = 0;

    if (hook_table_has_code(table, target->address))
        return -EPERM;
    if (target->plan != NULL)
        *plan_out = *target->plan;
    else
        result = live_plans_at(&table->plans, target->address, plan_out);
    if (result != 0)
        return result;
    if (plan_out->method == HOOK_IMPOSSIBLE || (plan_out->method == HOOK_TRAP && target->without_traps)) {
        live_plans_release(&table->plans, plan_out);
        return -EOPNOTSUPP;
    }
    return 0;
}

static int init_call(struct hook_table *table, struct hook_site *site, const struct site_purpose *purpose)
{
    struct site_maker maker = hook_table_maker(table);
    struct system_call_stub *call = pool_allocate(&table->call_pool);
    int result = call == NULL ? -ENOMEM : hook_site_init_call(site, purpose, call, &maker);

    if (result != 0)
        pool_free(&table->call_pool, call);
    return result;
}

static int init_hook(struct hook_table *table, struct hook_site *site, const struct hook_target *target,
                     const struct hook_plan *plan)
{
    const struct site_purpose purpose = {plan, target->expected, target->is_probe};
    struct site_maker maker = hook_table_maker(table);

    return target->is_system_call ? init_call(table, site, &purpose) : hook_site_init(site, &purpose, &maker);
}

static int init_site(struct hook_table *table, struct table_site *site, const struct hook_target *target)
{
    struct hook_plan plan;
    int result = make_plan(table, target, &plan);

    if (result != 0)
        return result;
    result = init_hook(table, &site->hook, target, &plan);
    if (result == 0)
        result = take_bytes(table, site);
    if (result == 0)
        result = hash_map_insert(&table->sites, target->address, (uintptr_t)site);
    if (result == 0)
        return 0;
    table_sites_give_bytes_back(table, site);
    live_plans_release(&table->plans, &plan);
    table_site_release(site);
    return result;
}

static int create_site(struct hook_table *table, const struct hook_target *target, struct table_site **site_out)
{
    struct table_site *site = pool_allocate(&table->site_pool);
    int result;

    if (site == NULL)
        return -ENOMEM;
    table_site_init(site);
    result = init_site(table, site, target);
    list_add_last(&table->all_sites, &site->node);
    if (result != 0) {
        site->is_dead = true;
        table->retired_count++;
        free_if_unused(table, site);
        return result;
    }
    table->site_count++;
    *site_out = site;
    return 0;
}

/* One that lies idle: whether the code is still what it was when its trampoline was made. */
static bool is_as_it_was(const struct hook_table *table, const struct table_site *site)
{
    uint8_t bytes[REDIRECT_BYTES_MAX];
    uint32_t size = site->hook.patch.plan.patch_bytes;

    return forced_memory_read(&table->memory, site->hook.patch.plan.patch_at, bytes, size) == size &&
           __builtin_memcmp(bytes, site->hook.patch.original, size) == 0;
}

/* The site at an address, made if need be. */
int table_sites_obtain(struct hook_table *table, const struct hook_target *target, struct table_site **site_out)
{
    struct table_site *site = table_sites_find(table, target->address);

    if (site != NULL && table_site_is_idle(site) &&
        (site->hook.is_probe != target->is_probe || !is_as_it_was(table, site))) {
        table_sites_bury(table, site);
        site = NULL;
    }
    if (site == NULL)
        return create_site(table, target, site_out);
    if (site->hook.is_probe != target->is_probe)
        return -EBUSY;
    *site_out = site;
    return take_bytes(table, site);
}

void table_sites_mark(struct hook_table *table, struct table_site *site)
{
    if (!list_contains_node(&site->dirty))
        list_add_last(&table->dirty_sites, &site->dirty);
}
