/* SPDX-License-Identifier: MIT */
/*
 * The table of sites. A call notes what is wanted at a site and puts the site on the list of those that change; the
 * commit makes it so.
 *
 * Neighbours: hook_table_parts.h says what the table is; table_sites.c finds and makes sites, table_site.c their code
 * and changes; hook_transaction.c commits; live_plans.c plans; patch_transaction.c patches; listener_list.c.
 */
#include "hook/hook_table_parts.h"

#include "base/memory_map.h"
#include "hook/system_call_stub.h"
#include "hook/trap_table.h"

#include <asm/errno.h>

#define EXPECTED_SITES 1024

/* ---- the table itself -------------------------------------------------------------------------------------------- */

static int init_parts(struct hook_table *table)
{
    int result = hash_map_init(&table->sites, EXPECTED_SITES);

    if (result == 0)
        result = pool_init(&table->site_pool, sizeof(struct table_site));
    if (result == 0)
        result = pool_init(&table->code_pool, sizeof(struct site_code));
    if (result == 0)
        result = pool_init(&table->call_pool, sizeof(struct system_call_stub));
    if (result == 0)
        result = pool_init(&table->attachment_pool, sizeof(struct hook_attachment));
    return result;
}

static void deinit_parts(struct hook_table *table)
{
    patch_transaction_deinit(&table->patches);
    live_plans_deinit(&table->plans);
    interval_map_deinit(&table->taken);
    hash_map_deinit(&table->sites);
}

int hook_table_create(const struct hook_table_options *options, struct hook_table **table_out)
{
    struct hook_table *table;
    void *storage;
    int result;

    if (!hook_stub_is_supported())
        return -EOPNOTSUPP;
    result = memory_map(sizeof(*table), &storage);
    if (result != 0)
        return result;
    table = storage;
    table->options = *options;
    table->memory.fd = -1;
    list_init(&table->all_sites);
    list_init(&table->dirty_sites);
    interval_map_init(&table->taken);
    listener_lists_init(&table->lists);
    live_plans_init(&table->plans);
    near_memory_init(&table->code, options->code_mode, options->code_chunk_bytes);
    patch_transaction_init(&table->patches);
    result = init_parts(table);
    if (result != 0) {
        memory_unmap(table, sizeof(*table));
        return result;
    }
    if (!options->is_held)
        patch_synchronization_prepare();
    *table_out = table;
    return 0;
}

/* ---- wishes ------------------------------------------------------------------------------------------------------ */

/* The list that was wanted before is freed if nobody has ever got it. */
static void want_listeners(struct hook_table *table, struct table_site *site, const struct hook_listeners *list)
{
    if (site->wanted.listeners != site->now.listeners)
        listener_list_free(&table->lists, site->wanted.listeners);
    site->wanted.listeners = list;
    table_sites_mark(table, site);
}

static int add_listener(struct hook_table *table, struct table_site *site, const struct hook_listener *listener,
                        struct hook_attachment **attachment_out)
{
    struct hook_attachment *attachment = pool_allocate(&table->attachment_pool);
    const struct hook_listeners *list;

    if (attachment == NULL)
        return -ENOMEM;
    list = listener_list_with(&table->lists, site->wanted.listeners, listener, site->last_serial);
    if (list == NULL) {
        pool_free(&table->attachment_pool, attachment);
        return -ENOMEM;
    }
    *attachment = (struct hook_attachment){.site = site, .serial = ++site->last_serial, .is_new = true};
    list_add_last(&site->attachments, &attachment->node);
    want_listeners(table, site, list);
    *attachment_out = attachment;
    return 0;
}

static int attach(struct hook_table *table, const struct hook_target *target, const struct hook_listener *listener,
                  struct hook_attachment **attachment_out)
{
    struct table_site *site;
    int result = table_sites_obtain(table, target, &site);

    if (result != 0)
        return result;
    if (site->wanted.is_in_place)
        return -EBUSY;
    return add_listener(table, site, listener, attachment_out);
}

int hook_table_attach(struct hook_table *table, const struct hook_target *target, const struct hook_listener *listener,
                      struct hook_attachment **attachment_out)
{
    struct hook_attachment *attachment = NULL;
    int result;

    if (listener->enter == NULL && listener->leave == NULL)
        return -EINVAL;
    result = hook_transaction_enter(table, USER_STACK);
    if (result != 0)
        return result;
    result = hook_transaction_end_call(table, attach(table, target, listener, &attachment));
    if (result == 0)
        *attachment_out = attachment;
    return result;
}

static int detach(struct hook_table *table, struct hook_attachment *attachment)
{
    const struct hook_listeners *list;
    int result;

    if (attachment->is_removed)
        return -ENOENT;
    result = listener_list_without(&table->lists, attachment->site->wanted.listeners, attachment->serial, &list);
    if (result != 0)
        return result;
    attachment->is_removed = true;
    want_listeners(table, attachment->site, list);
    return 0;
}

int hook_table_detach(struct hook_table *table, struct hook_attachment *attachment)
{
    int result = hook_transaction_enter(table, USER_STACK);

    return result != 0 ? result : hook_transaction_end_call(table, detach(table, attachment));
}

static int replace(struct hook_table *table, const struct hook_target *target, uint64_t replacement, bool is_in_place,
                   uint64_t *original_out)
{
    struct table_site *site;
    int result = table_sites_obtain(table, target, &site);

    if (result != 0)
        return result;
    if (site->wanted.replacement != 0)
        return -EEXIST;
    if (is_in_place && !site_wish_is_empty(&site->wanted))
        return -EBUSY;
    site->wanted.replacement = replacement;
    site->wanted.is_in_place = is_in_place;
    table_sites_mark(table, site);
    if (original_out != NULL) {
        site->is_exposed = true;
        *original_out = site->hook.patch.trampoline.start;
    }
    return 0;
}

int hook_table_replace(struct hook_table *table, const struct hook_target *target, uint64_t replacement,
                       bool is_in_place, uint64_t *original_out)
{
    uint64_t original = 0;
    int result;

    if (replacement == 0 || replacement == target->address || target->is_probe)
        return -EINVAL;
    result = hook_transaction_enter(table, USER_STACK);
    if (result != 0)
        return result;
    /* The program must have it before the replacement can run. */
    if (original_out != NULL) {
        result = replace(table, target, replacement, is_in_place, &original);
        if (result == 0)
            *original_out = original;
    } else {
        result = replace(table, target, replacement, is_in_place, NULL);
    }
    return hook_transaction_end_call(table, result);
}

static int revert(struct hook_table *table, uint64_t address)
{
    struct table_site *site = table_sites_find(table, address);

    if (site == NULL || site->wanted.replacement == 0)
        return -ENOENT;
    site->wanted.replacement = 0;
    site->wanted.is_in_place = false;
    table_sites_mark(table, site);
    return 0;
}

int hook_table_revert(struct hook_table *table, uint64_t address)
{
    int result = hook_transaction_enter(table, USER_STACK);

    return result != 0 ? result : hook_transaction_end_call(table, revert(table, address));
}

/* What an order has built is not patched. */
static void drop_built(struct hook_table *table, struct table_site *site)
{
    if (!site->is_built)
        return;
    patch_transaction_drop(&table->patches, &site->hook.patch);
    table_site_publish(site, NULL);
    table_site_give_up(site);
}

static void want_nothing(struct hook_table *table, struct table_site *site)
{
    LIST_FOR_EACH (node, &site->attachments)
        LIST_ELEMENT(node, struct hook_attachment, node)->is_removed = true;
    want_listeners(table, site, NULL);
    site->wanted = (struct site_wish){0};
}

static int unhook(struct hook_table *table, uint64_t address)
{
    struct table_site *site = table_sites_find(table, address);

    if (site == NULL || site_wish_is_empty(&site->wanted))
        return -ENOENT;
    want_nothing(table, site);
    return 0;
}

int hook_table_unhook(struct hook_table *table, uint64_t address)
{
    int result = hook_transaction_enter(table, USER_STACK);

    return result != 0 ? result : hook_transaction_end_call(table, unhook(table, address));
}

/* ---- orders ------------------------------------------------------------------------------------------------------ */

static int want_all(struct hook_table *table, struct table_site *site, const struct hook_order *order)
{
    const struct hook_listeners *list = NULL;

    for (uint32_t i = 0; i < order->listener_count; i++) {
        const struct hook_listeners *longer = listener_list_with(&table->lists, list, &order->listeners[i], i);

        listener_list_free(&table->lists, list);
        if (longer == NULL)
            return -ENOMEM;
        list = longer;
    }
    site->hook.use = order->use;
    site->hook.function.record_number = order->number;
    site->last_serial = order->listener_count;
    site->wanted = (struct site_wish){
        .listeners = list,
        .is_recorded = order->is_recorded,
        .is_goroutine = order->is_goroutine,
        .is_exit = order->is_exit,
        .is_ordered = true,
    };
    return 0;
}

static int build_order(struct hook_table *table, struct table_site *site, const struct hook_order *order)
{
    struct site_maker maker = hook_table_maker(table);
    int result = want_all(table, site, order);

    if (result != 0)
        return result;
    result = table_site_build(site, &table->patches, &maker);
    if (result == 0)
        return 0;
    table_site_give_up(site);
    listener_list_free(&table->lists, site->wanted.listeners);
    site->wanted = (struct site_wish){0};
    return result;
}

int hook_table_order(struct hook_table *table, const struct hook_order *order, const struct hook_site **site_out)
{
    struct table_site *site;
    int result = table->depth == 0 ? -EINVAL : table_sites_obtain(table, &order->target, &site);

    if (result != 0)
        return result;
    if (!table_site_is_idle(site))
        return -EBUSY;
    result = build_order(table, site, order);
    if (result != 0) {
        table_sites_bury(table, site);
        return result;
    }
    table_site_publish(site, site->wanted.listeners);
    site->is_built = true;
    table_sites_mark(table, site);
    *site_out = &site->hook;
    return 0;
}

void hook_table_cancel(struct hook_table *table, const struct hook_site *hook)
{
    struct table_site *site = (struct table_site *)hook; /* its first member */

    drop_built(table, site);
    want_nothing(table, site);
}

int hook_table_make_front(struct hook_table *table, uint64_t function, const struct hook_listener *listener,
                          uint64_t *entry_out)
{
    const struct hook_order order = {.listeners = listener, .listener_count = 1};
    struct site_maker maker = hook_table_maker(table);
    struct table_site *site = pool_allocate(&table->site_pool);
    int result;

    if (site == NULL)
        return -ENOMEM;
    table_site_init(site);
    hook_site_init_front(&site->hook, function);
    result = want_all(table, site, &order);
    if (result == 0)
        result = hook_site_lead(&site->hook, &site->wanted, &maker, &site->next);
    if (result != 0)
        return result;
    table_site_publish(site, site->wanted.listeners);
    table_site_settle(site);
    result = near_memory_commit(&table->code);
    if (result == 0)
        *entry_out = site->hook.stub->entry;
    return result;
}

const struct forced_memory *hook_table_memory(const struct hook_table *table)
{
    return &table->memory;
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

int hook_table_plan_module(struct hook_table *table, uint64_t address,
                           bool (*visit)(void *context, const struct elf_function *function,
                                         const struct hook_plan *plan),
                           void *context)
{
    int result = hook_transaction_enter(table, USER_STACK);

    if (result != 0)
        return result;
    result = hook_table_has_code(table, address) ? -EPERM : live_plans_module(&table->plans, address, visit, context);
    return hook_transaction_end_call(table, result);
}

bool hook_table_is_hooked(struct hook_table *table, uint64_t address, enum hook_method *method_out)
{
    const struct table_site *site;
    bool is_hooked;

    if (hook_transaction_enter(table, USER_STACK) != 0)
        return false;
    site = table_sites_find(table, address);
    is_hooked = site != NULL && !site_wish_is_empty(&site->wanted);
    if (is_hooked && method_out != NULL)
        *method_out = (enum hook_method)site->hook.patch.plan.method;
    return hook_transaction_end_call(table, 0) == 0 && is_hooked;
}

static size_t count_chunks(const struct hook_table *table)
{
    return list_length(&table->code.chunks);
}

/* Sites that lie idle go; then it is looked who is where, which needs no change. */
static int collect(struct hook_table *table)
{
    uint64_t low, high;

    LIST_FOR_EACH_REMOVABLE (node, &table->all_sites) {
        struct table_site *site = site_of(node);

        if (!site->is_dead && table_site_is_idle(site) && !list_contains_node(&site->dirty))
            table_sites_bury(table, site);
    }
    if (!hook_table_may_reclaim(table) || !near_memory_begin_reclaim(&table->code, &low, &high))
        return 0;
    return hook_transaction_commit_patches(table);
}

int hook_table_collect(struct hook_table *table, struct hook_table_statistics *statistics_out)
{
    int result = hook_transaction_enter(table, USER_STACK);

    if (result != 0)
        return result;
    if (table->depth == 1)
        result = collect(table);
    if (statistics_out != NULL)
        *statistics_out = (struct hook_table_statistics){
            .site_count = table->site_count, .retired_count = table->retired_count, .chunk_count = count_chunks(table)};
    return hook_transaction_end_call(table, result);
}

/* Of a whole module: all at once is quicker than site by site. */
static void give_range_back(struct hook_table *table, uint64_t start, uint64_t end)
{
    struct interval found;

    if (table->options.is_held && start < end &&
        !(interval_map_find(&table->taken, start, &found) && found.start < start) &&
        !(interval_map_find(&table->taken, end, &found) && found.start < end))
        (void)!interval_map_remove(&table->taken, start, end);
}

size_t hook_table_forget_range(struct hook_table *table, uint64_t start, uint64_t end)
{
    size_t count = 0;

    if (hook_transaction_enter(table, USER_STACK) != 0)
        return 0;
    give_range_back(table, start, end);
    LIST_FOR_EACH_REMOVABLE (node, &table->all_sites) {
        struct table_site *site = site_of(node);
        uint64_t address = site->hook.function.address;

        if (site->is_dead || address < start || address >= end)
            continue;
        drop_built(table, site);
        want_nothing(table, site);
        list_remove(&site->dirty);
        table_site_publish(site, NULL);
        listener_list_retire(&table->lists, site->now.listeners);
        site->now = site->wanted;
        site->hook.patch.is_in_place = false;
        hook_transaction_settle(table, site, true);
        table_sites_bury(table, site);
        count++;
    }
    return hook_transaction_end_call(table, 0) == 0 ? count : 0;
}

static int unhook_all(struct hook_table *table)
{
    if (table->depth > 1)
        return -EBUSY;
    LIST_FOR_EACH (node, &table->all_sites)
        if (!site_of(node)->is_dead && !site_wish_is_empty(&site_of(node)->wanted))
            want_nothing(table, site_of(node));
    return hook_transaction_commit_all(table);
}

static void free_all(struct hook_table *table)
{
    near_memory_deinit(&table->code);
    listener_lists_deinit(&table->lists);
    pool_deinit(&table->site_pool);
    pool_deinit(&table->code_pool);
    pool_deinit(&table->call_pool);
    pool_deinit(&table->attachment_pool);
    memory_unmap(table, sizeof(*table));
}

/* Where code is left to threads that are in it, so is what that code needs to know. */
int hook_table_destroy(struct hook_table *table)
{
    int result;

    if (table == NULL)
        return 0;
    if (table->options.is_held) {
        deinit_parts(table);
        free_all(table);
        return 0;
    }
    result = hook_transaction_enter(table, USER_STACK);
    if (result != 0)
        return result;
    result = unhook_all(table);
    if (result == 0)
        result = collect(table);
    result = hook_transaction_end_call(table, result);
    if (result != 0)
        return result;
    trap_table_end();
    deinit_parts(table);
    if (list_is_empty(&table->code.chunks))
        free_all(table);
    return 0;
}
