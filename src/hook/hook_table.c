/* SPDX-License-Identifier: MIT */
/*
 * The table of sites and the transactions on it. A call notes what is wanted at a site and puts the site on the list of
 * those that change; the commit builds what they need, patches all of them at once, and takes the wishes for facts.
 * When it fails, the facts become the wishes again.
 *
 * Invariants. Bytes of code belong to one site: `taken` has them while its patch is in place or about to be. Sites are
 * found by address in `sites` until they are dead. Listeners are published before a patch leads to them, and taken away
 * after nothing does. The lock is held from begin to commit or abort, by one thread.
 *
 * Neighbours: hook_site.c makes code and changes; live_plans.c plans; patch_transaction.c patches; listener_list.c.
 */
#include "hook/hook_table.h"

#include "base/hash_map.h"
#include "base/interval_map.h"
#include "base/memory_map.h"
#include "base/pool.h"
#include "hook/hook_site.h"
#include "hook/hook_thread.h"
#include "hook/hook_thread_layout.h"
#include "hook/listener_list.h"
#include "hook/live_plans.h"
#include "hook/patch_transaction.h"
#include "hook/trap_table.h"
#include "process/forced_memory.h"
#include "process/near_memory.h"
#include "process/owner_lock.h"
#include "process/thread_list.h"

#include <asm/errno.h>

#define LOCK_TIMEOUT_MS 10000u
#define EXPECTED_SITES  1024

struct hook_attachment {
    struct list_node node; /* of the site */
    struct hook_site *site;
    uint32_t serial;
    bool is_new;     /* made by the transaction that is open */
    bool is_removed; /* by it */
};

struct hook_table {
    struct hook_table_options options;
    struct owner_lock lock;
    unsigned depth; /* of transactions within each other */
    struct hash_map sites;
    struct list_node all_sites;
    struct list_node dirty_sites;
    struct interval_map taken;
    struct pool site_pool;
    struct pool code_pool;
    struct pool attachment_pool;
    struct listener_lists lists;
    struct live_plans plans;
    struct near_memory code;
    struct forced_memory memory;
    struct patch_transaction patches;
    size_t site_count;
    size_t retired_count;
    uint64_t user_stack; /* of the thread that commits: what is above belongs to who called us */
};

/* ---- the table itself -------------------------------------------------------------------------------------------- */

static int init_parts(struct hook_table *table)
{
    int result = hash_map_init(&table->sites, EXPECTED_SITES);

    if (result == 0)
        result = pool_init(&table->site_pool, sizeof(struct hook_site));
    if (result == 0)
        result = pool_init(&table->code_pool, sizeof(struct site_code));
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

    if (!hook_stub_is_supported() || hook_redirector_host() == NULL)
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
    near_memory_init(&table->code, options->code_mode, 0);
    patch_transaction_init(&table->patches);
    result = init_parts(table);
    if (result != 0) {
        memory_unmap(table, sizeof(*table));
        return result;
    }
    patch_synchronization_prepare();
    *table_out = table;
    return 0;
}

static struct hook_site *site_of(struct list_node *node)
{
    return LIST_ELEMENT(node, struct hook_site, node);
}

static struct hook_site *dirty_site_of(struct list_node *node)
{
    return LIST_ELEMENT(node, struct hook_site, dirty);
}

static struct hook_site *find_site(const struct hook_table *table, uint64_t address)
{
    uint64_t value;

    return hash_map_lookup(&table->sites, address, &value) ? (struct hook_site *)(uintptr_t)value : NULL;
}

static struct site_maker maker_of(struct hook_table *table)
{
    return (struct site_maker){&table->memory, &table->code, &table->code_pool};
}

/* ---- code that goes ---------------------------------------------------------------------------------------------- */

static void free_site_if_unused(struct hook_table *table, struct hook_site *site)
{
    if (!site->is_dead || site->code_count > 0)
        return;
    list_remove(&site->node);
    list_remove(&site->dirty);
    pool_free(&table->site_pool, site);
    table->retired_count--;
}

static void forget_code(void *context, struct near_piece *piece)
{
    struct hook_table *table = context;
    struct site_code *code = (struct site_code *)piece; /* its first member */
    struct hook_site *site = code->site;

    pool_free(&table->code_pool, code);
    site->code_count--;
    free_site_if_unused(table, site);
}

static bool is_pending(uint64_t start, uint64_t end)
{
    return hook_stub_pending(start, end) > 0;
}

static bool may_reclaim(const struct hook_table *table)
{
    return table->options.may_reclaim == NULL || table->options.may_reclaim(table->options.context);
}

static const struct hook_thread *thread_with(int tid)
{
    const struct hook_thread *thread;

    for (uint32_t i = 0; (thread = hook_thread_at(i)) != NULL; i++)
        if (thread->tid == (uint32_t)tid)
            return thread;
    return NULL;
}

/*
 * A thread on the stack for listeners has come from the program's by a gate, whose stack pointer is known once
 * listeners are called; before and after, where the innermost call is will do, but not for the gate's return address.
 */
static uint64_t program_stack(int tid, uint64_t sp, bool *is_hidden_out)
{
    const struct hook_thread *thread = thread_with(tid);

    if (thread == NULL || sp < thread->stack_low || sp > thread->stack_top)
        return 0;
    if (hook_thread_ignoring(thread, HOOK_IGNORING_LISTENER) != 0)
        return thread->gate_sp;
    *is_hidden_out = true;
    return thread->invocations.top[-1].slot;
}

static void tell_changed(void *context, uint64_t start, uint64_t end)
{
    struct hook_table *table = context;

    if (table->options.changed != NULL)
        table->options.changed(table->options.context, start, end);
}

/*
 * Whether calls will return to code is asked while threads stand still, so what is asked must not be locked by one of
 * them then.
 */
static int commit_patches(struct hook_table *table)
{
    uint64_t signals = hook_signals_block();
    bool is_locked = hook_threads_lock() == 0;
    struct patch_environment environment = {
        .memory = &table->memory,
        .stop = table->options.stop,
        .stop_context = table->options.stop_context,
        .code = is_locked && may_reclaim(table) ? &table->code : NULL,
        .is_needed = is_pending,
        .other_stack = program_stack,
        .own_stack = table->user_stack,
        .changed = tell_changed,
        .changed_context = table,
    };
    int result = patch_transaction_commit(&table->patches, &environment);

    if (is_locked)
        hook_threads_unlock();
    hook_signals_unblock(signals);
    if (result == 0 && environment.code != NULL)
        (void)near_memory_end_reclaim(&table->code, forget_code, table);
    return result;
}

/* ---- bytes that belong to sites ---------------------------------------------------------------------------------- */

static uint64_t end_of_bytes(const struct hook_plan *plan)
{
    uint64_t patch_end = plan->patch_at + plan->patch_bytes;

    return patch_end > plan->displaced_end ? patch_end : plan->displaced_end;
}

static int take_bytes(struct hook_table *table, struct hook_site *site)
{
    const struct hook_plan *plan = &site->patch.plan;
    int result;

    if (site->has_taken_bytes)
        return 0;
    result = interval_map_insert(&table->taken, plan->patch_at, end_of_bytes(plan), (uintptr_t)site);
    if (result == 0 && plan->hop_bytes > 0) {
        result = interval_map_insert(&table->taken, plan->hop_at, plan->hop_at + plan->hop_bytes, (uintptr_t)site);
        if (result != 0)
            (void)!interval_map_remove(&table->taken, plan->patch_at, end_of_bytes(plan));
    }
    site->has_taken_bytes = result == 0;
    return result == -EEXIST ? -EBUSY : result;
}

/* Whole ranges are removed, which needs no memory. */
static void give_bytes_back(struct hook_table *table, struct hook_site *site)
{
    const struct hook_plan *plan = &site->patch.plan;

    if (!site->has_taken_bytes)
        return;
    (void)!interval_map_remove(&table->taken, plan->patch_at, end_of_bytes(plan));
    if (plan->hop_bytes > 0)
        (void)!interval_map_remove(&table->taken, plan->hop_at, plan->hop_at + plan->hop_bytes);
    site->has_taken_bytes = false;
}

/* ---- sites ------------------------------------------------------------------------------------------------------- */

static void bury_site(struct hook_table *table, struct hook_site *site)
{
    (void)hash_map_remove(&table->sites, site->function.address);
    give_bytes_back(table, site);
    live_plans_release(&table->plans, &site->patch.plan);
    hook_site_release(site);
    site->is_dead = true;
    table->site_count--;
    table->retired_count++;
    free_site_if_unused(table, site);
}

static bool is_ours(const struct hook_table *table, uint64_t address)
{
    return (address >= table->options.own_start && address < table->options.own_end) ||
           near_memory_contains(&table->code, address);
}

static int make_plan(struct hook_table *table, const struct hook_target *target, struct hook_plan *plan_out)
{
    int result = 0;

    if (is_ours(table, target->address))
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

static int init_site(struct hook_table *table, struct hook_site *site, const struct hook_target *target)
{
    struct site_maker maker = maker_of(table);
    struct hook_plan plan;
    int result = make_plan(table, target, &plan);

    if (result != 0)
        return result;
    result = hook_site_init(site, &plan, target->is_probe, &maker);
    if (result == 0)
        result = take_bytes(table, site);
    if (result == 0)
        result = hash_map_insert(&table->sites, target->address, (uintptr_t)site);
    if (result == 0)
        return 0;
    give_bytes_back(table, site);
    live_plans_release(&table->plans, &plan);
    if (site->trampoline != NULL)
        near_memory_release(&site->trampoline->piece);
    return result;
}

static int create_site(struct hook_table *table, const struct hook_target *target, struct hook_site **site_out)
{
    struct hook_site *site = pool_allocate(&table->site_pool);
    int result;

    if (site == NULL)
        return -ENOMEM;
    *site = (struct hook_site){0};
    result = init_site(table, site, target);
    list_add_last(&table->all_sites, &site->node);
    if (result != 0) {
        site->is_dead = true;
        table->retired_count++;
        free_site_if_unused(table, site);
        return result;
    }
    table->site_count++;
    *site_out = site;
    return 0;
}

/* One that lies idle: whether the code is still what it was when its trampoline was made. */
static bool is_as_it_was(const struct hook_table *table, const struct hook_site *site)
{
    uint8_t bytes[REDIRECT_BYTES_MAX];
    uint32_t size = site->patch.plan.patch_bytes;

    return forced_memory_read(&table->memory, site->patch.plan.patch_at, bytes, size) == size &&
           __builtin_memcmp(bytes, site->patch.original, size) == 0;
}

static bool is_idle(const struct hook_site *site)
{
    return site_wish_is_empty(&site->now) && site_wish_is_empty(&site->wanted) && !site->patch.is_in_place;
}

/* The site at an address, made if need be. */
static int obtain_site(struct hook_table *table, const struct hook_target *target, struct hook_site **site_out)
{
    struct hook_site *site = find_site(table, target->address);

    if (site != NULL && is_idle(site) && (site->is_probe != target->is_probe || !is_as_it_was(table, site))) {
        bury_site(table, site);
        site = NULL;
    }
    if (site == NULL)
        return create_site(table, target, site_out);
    if (site->is_probe != target->is_probe)
        return -EBUSY;
    *site_out = site;
    return take_bytes(table, site);
}

static void mark_dirty(struct hook_table *table, struct hook_site *site)
{
    if (!list_contains_node(&site->dirty))
        list_add_last(&table->dirty_sites, &site->dirty);
}

/* ---- transactions ------------------------------------------------------------------------------------------------ */

/* What is above the frame of the function that our user has called. */
#define USER_STACK ((uintptr_t)__builtin_frame_address(0) + 2 * sizeof(uint64_t))

/*
 * The descriptor is open only while the lock is held: a child that was forked would change its parent by it, and
 * programs close descriptors that they do not know.
 */
static void unlock(struct hook_table *table)
{
    forced_memory_deinit(&table->memory);
    owner_lock_release(&table->lock);
}

static int enter(struct hook_table *table, uint64_t user_stack)
{
    int result = owner_lock_acquire(&table->lock, LOCK_TIMEOUT_MS);

    if (result == 0) {
        table->depth = 0;
        result = forced_memory_init(&table->memory);
        if (result != 0)
            owner_lock_release(&table->lock);
    } else if (result == -EDEADLK) {
        result = 0;
    }
    if (result != 0)
        return result;
    table->depth++;
    table->user_stack = user_stack;
    return 0;
}

int hook_table_begin(struct hook_table *table)
{
    return enter(table, USER_STACK);
}

static void publish(struct hook_site *site, const struct hook_listeners *list)
{
    /* Release: pairs with the acquire of who calls listeners. */
    atomic_store_explicit(&site->function.listeners, list, memory_order_release);
}

static int build_all(struct hook_table *table)
{
    struct site_maker maker = maker_of(table);

    LIST_FOR_EACH (node, &table->dirty_sites) {
        struct hook_site *site = dirty_site_of(node);
        int result = hook_site_build(site, &table->patches, &maker);

        if (result != 0)
            return result;
        if (!site->patch.is_in_place)
            publish(site, site->wanted.listeners);
    }
    return near_memory_commit(&table->code);
}

static void settle_attachments(struct hook_table *table, struct hook_site *site, bool is_committed)
{
    LIST_FOR_EACH_REMOVABLE (node, &site->attachments) {
        struct hook_attachment *attachment = LIST_ELEMENT(node, struct hook_attachment, node);

        if (is_committed ? attachment->is_removed : attachment->is_new) {
            list_remove(node);
            pool_free(&table->attachment_pool, attachment);
        } else {
            attachment->is_new = attachment->is_removed = false;
        }
    }
}

static void settle_site(struct hook_table *table, struct hook_site *site)
{
    hook_site_settle(site);
    publish(site, site->wanted.listeners);
    if (site->now.listeners != site->wanted.listeners)
        listener_list_retire(&table->lists, site->now.listeners);
    site->now = site->wanted;
    settle_attachments(table, site, true);
    if (is_idle(site))
        give_bytes_back(table, site);
}

static void give_up_site(struct hook_table *table, struct hook_site *site)
{
    hook_site_give_up(site);
    publish(site, site->now.listeners);
    /* Somebody may have got it, if the site was in place. */
    if (site->now.listeners != site->wanted.listeners)
        listener_list_retire(&table->lists, site->wanted.listeners);
    site->wanted = site->now;
    settle_attachments(table, site, false);
    if (is_idle(site))
        give_bytes_back(table, site);
}

/* From the last one on: bytes of code are given back quickest in the other order than they are taken in. */
static void finish_all(struct hook_table *table, bool is_committed)
{
    while (!list_is_empty(&table->dirty_sites)) {
        struct hook_site *site = dirty_site_of(list_last(&table->dirty_sites));

        list_remove(&site->dirty);
        if (is_committed)
            settle_site(table, site);
        else
            give_up_site(table, site);
    }
}

static bool is_in_listener(void)
{
    const struct hook_thread *thread = hook_thread_current();

    return thread != NULL && hook_thread_ignoring(thread, HOOK_IGNORING_LISTENER);
}

static int commit_all(struct hook_table *table)
{
    int result = build_all(table);

    trap_table_renew();
    if (result == 0 && table->patches.count > 0)
        result = commit_patches(table);
    table->patches.count = 0;
    finish_all(table, result == 0);
    hash_map_reclaim(&table->sites);
    if (!is_in_listener())
        listener_lists_collect(&table->lists);
    return result;
}

static int leave(struct hook_table *table)
{
    int result = table->depth == 1 ? commit_all(table) : 0;

    if (--table->depth == 0)
        unlock(table);
    return result;
}

int hook_table_commit(struct hook_table *table)
{
    if (table->depth == 0)
        return -EINVAL;
    table->user_stack = USER_STACK;
    return leave(table);
}

void hook_table_abort(struct hook_table *table)
{
    if (table->depth == 0)
        return;
    (void)!near_memory_commit(&table->code);
    finish_all(table, false);
    table->depth = 0;
    unlock(table);
}

/* For calls that are transactions by themselves: the end of one, with what came of the call. */
static int end_call(struct hook_table *table, int result)
{
    if (result != 0 && table->depth == 1) {
        hook_table_abort(table);
        return result;
    }
    if (result != 0) {
        table->depth--;
        return result;
    }
    return leave(table);
}

/* ---- wishes ------------------------------------------------------------------------------------------------------ */

/* The list that was wanted before is freed if nobody has ever got it. */
static void want_listeners(struct hook_table *table, struct hook_site *site, const struct hook_listeners *list)
{
    if (site->wanted.listeners != site->now.listeners)
        listener_list_free(&table->lists, site->wanted.listeners);
    site->wanted.listeners = list;
    mark_dirty(table, site);
}

static int add_listener(struct hook_table *table, struct hook_site *site, const struct hook_listener *listener,
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
    struct hook_site *site;
    int result = obtain_site(table, target, &site);

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
    result = enter(table, USER_STACK);
    if (result != 0)
        return result;
    result = end_call(table, attach(table, target, listener, &attachment));
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
    int result = enter(table, USER_STACK);

    return result != 0 ? result : end_call(table, detach(table, attachment));
}

static int replace(struct hook_table *table, const struct hook_target *target, uint64_t replacement, bool is_in_place,
                   uint64_t *original_out)
{
    struct hook_site *site;
    int result = obtain_site(table, target, &site);

    if (result != 0)
        return result;
    if (site->wanted.replacement != 0)
        return -EEXIST;
    if (is_in_place && !site_wish_is_empty(&site->wanted))
        return -EBUSY;
    site->wanted.replacement = replacement;
    site->wanted.is_in_place = is_in_place;
    mark_dirty(table, site);
    if (original_out != NULL) {
        site->is_exposed = true;
        *original_out = site->patch.trampoline.start;
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
    result = enter(table, USER_STACK);
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
    return end_call(table, result);
}

static int revert(struct hook_table *table, uint64_t address)
{
    struct hook_site *site = find_site(table, address);

    if (site == NULL || site->wanted.replacement == 0)
        return -ENOENT;
    site->wanted.replacement = 0;
    site->wanted.is_in_place = false;
    mark_dirty(table, site);
    return 0;
}

int hook_table_revert(struct hook_table *table, uint64_t address)
{
    int result = enter(table, USER_STACK);

    return result != 0 ? result : end_call(table, revert(table, address));
}

static int record(struct hook_table *table, const struct hook_target *target, uint32_t record_number)
{
    struct hook_site *site;
    int result = obtain_site(table, target, &site);

    if (result != 0)
        return result;
    if (site->wanted.is_recorded)
        return -EEXIST;
    if (site->wanted.is_in_place)
        return -EBUSY;
    site->wanted.is_recorded = true;
    site->wanted.record_number = record_number;
    mark_dirty(table, site);
    return 0;
}

int hook_table_record(struct hook_table *table, const struct hook_target *target, uint32_t record_number)
{
    int result;

    if (target->is_probe)
        return -EINVAL;
    result = enter(table, USER_STACK);
    return result != 0 ? result : end_call(table, record(table, target, record_number));
}

static int end_record(struct hook_table *table, uint64_t address)
{
    struct hook_site *site = find_site(table, address);

    if (site == NULL || !site->wanted.is_recorded)
        return -ENOENT;
    site->wanted.is_recorded = false;
    site->wanted.record_number = 0;
    mark_dirty(table, site);
    return 0;
}

int hook_table_end_record(struct hook_table *table, uint64_t address)
{
    int result = enter(table, USER_STACK);

    return result != 0 ? result : end_call(table, end_record(table, address));
}

static void want_nothing(struct hook_table *table, struct hook_site *site)
{
    LIST_FOR_EACH (node, &site->attachments)
        LIST_ELEMENT(node, struct hook_attachment, node)->is_removed = true;
    want_listeners(table, site, NULL);
    site->wanted = (struct site_wish){0};
}

static int unhook(struct hook_table *table, uint64_t address)
{
    struct hook_site *site = find_site(table, address);

    if (site == NULL || site_wish_is_empty(&site->wanted))
        return -ENOENT;
    want_nothing(table, site);
    return 0;
}

int hook_table_unhook(struct hook_table *table, uint64_t address)
{
    int result = enter(table, USER_STACK);

    return result != 0 ? result : end_call(table, unhook(table, address));
}

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

int hook_table_plan_module(struct hook_table *table, uint64_t address,
                           bool (*visit)(void *context, const struct elf_function *function,
                                         const struct hook_plan *plan),
                           void *context)
{
    int result = enter(table, USER_STACK);

    if (result != 0)
        return result;
    result = is_ours(table, address) ? -EPERM : live_plans_module(&table->plans, address, visit, context);
    return end_call(table, result);
}

bool hook_table_is_hooked(struct hook_table *table, uint64_t address, enum hook_method *method_out)
{
    const struct hook_site *site;
    bool is_hooked;

    if (enter(table, USER_STACK) != 0)
        return false;
    site = find_site(table, address);
    is_hooked = site != NULL && !site_wish_is_empty(&site->wanted);
    if (is_hooked && method_out != NULL)
        *method_out = (enum hook_method)site->patch.plan.method;
    return end_call(table, 0) == 0 && is_hooked;
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
        struct hook_site *site = site_of(node);

        if (!site->is_dead && is_idle(site) && !list_contains_node(&site->dirty))
            bury_site(table, site);
    }
    if (!may_reclaim(table) || !near_memory_begin_reclaim(&table->code, &low, &high))
        return 0;
    return commit_patches(table);
}

int hook_table_collect(struct hook_table *table, struct hook_table_statistics *statistics_out)
{
    int result = enter(table, USER_STACK);

    if (result != 0)
        return result;
    if (table->depth == 1)
        result = collect(table);
    if (statistics_out != NULL)
        *statistics_out = (struct hook_table_statistics){
            .site_count = table->site_count, .retired_count = table->retired_count, .chunk_count = count_chunks(table)};
    return end_call(table, result);
}

size_t hook_table_forget_range(struct hook_table *table, uint64_t start, uint64_t end)
{
    size_t count = 0;

    if (enter(table, USER_STACK) != 0)
        return 0;
    LIST_FOR_EACH_REMOVABLE (node, &table->all_sites) {
        struct hook_site *site = site_of(node);
        uint64_t address = site->function.address;

        if (site->is_dead || address < start || address >= end)
            continue;
        want_nothing(table, site);
        list_remove(&site->dirty);
        publish(site, NULL);
        listener_list_retire(&table->lists, site->now.listeners);
        site->now = site->wanted;
        site->patch.is_in_place = false;
        settle_attachments(table, site, true);
        bury_site(table, site);
        count++;
    }
    return end_call(table, 0) == 0 ? count : 0;
}

static int unhook_all(struct hook_table *table)
{
    if (table->depth > 1)
        return -EBUSY;
    LIST_FOR_EACH (node, &table->all_sites)
        if (!site_of(node)->is_dead && !site_wish_is_empty(&site_of(node)->wanted))
            want_nothing(table, site_of(node));
    return commit_all(table);
}

/* Where code is left to threads that are in it, so is what that code needs to know. */
int hook_table_destroy(struct hook_table *table)
{
    int result;

    if (table == NULL)
        return 0;
    result = enter(table, USER_STACK);
    if (result != 0)
        return result;
    result = unhook_all(table);
    if (result == 0)
        result = collect(table);
    result = end_call(table, result);
    if (result != 0)
        return result;
    trap_table_end();
    deinit_parts(table);
    if (list_is_empty(&table->code.chunks)) {
        listener_lists_deinit(&table->lists);
        pool_deinit(&table->site_pool);
        pool_deinit(&table->code_pool);
        pool_deinit(&table->attachment_pool);
        memory_unmap(table, sizeof(*table));
    }
    return 0;
}
