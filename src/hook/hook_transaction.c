/* SPDX-License-Identifier: MIT */
/*
 * The transactions on the table. What was noted at sites is built, all of them are patched at once, and the wishes are
 * taken for facts. When that fails, the facts become the wishes again.
 */
#include "hook/hook_table_parts.h"

#include "hook/handler_frames.h"
#include "hook/hook_thread.h"
#include "hook/hook_thread_layout.h"
#include "hook/trap_table.h"

#include <asm/errno.h>

#define LOCK_TIMEOUT_MS 10000u

static struct table_site *dirty_site_of(struct list_node *node)
{
    return LIST_ELEMENT(node, struct table_site, dirty);
}

/* ---- patches ----------------------------------------------------------------------------------------------------- */

static bool is_pending(uint64_t start, uint64_t end)
{
    return hook_stub_pending(start, end) > 0;
}

bool hook_table_may_reclaim(const struct hook_table *table)
{
    return table->options.may_reclaim == NULL || table->options.may_reclaim(table->options.context);
}

/*
 * A thread on the stack for listeners has come from the program's by a gate, whose stack pointer is known once
 * listeners are called; before and after, where the innermost call is will do, but not for the gate's return address.
 */
static uint64_t program_stack(int tid, uint64_t sp, bool *is_hidden_out)
{
    const struct hook_thread *thread = hook_thread_of(tid);

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
static int commit_stopped(struct hook_table *table)
{
    uint64_t signals = hook_signals_block();
    bool is_locked = hook_threads_lock() == 0;
    struct patch_environment environment = {
        .memory = &table->memory,
        .stop = table->options.stop,
        .stop_context = table->options.stop_context,
        .code = is_locked && hook_table_may_reclaim(table) ? &table->code : NULL,
        .is_needed = is_pending,
        .other_stack = program_stack,
        .other_frames = handler_frames_visit,
        .own_stack = table->user_stack,
        .changed = tell_changed,
        .changed_context = table,
    };
    int result = patch_transaction_commit(&table->patches, &environment);

    if (is_locked)
        hook_threads_unlock();
    hook_signals_unblock(signals);
    if (result == 0 && environment.code != NULL)
        (void)near_memory_end_reclaim(&table->code, table_sites_forget_code, table);
    return result;
}

/* Threads were moved before, or are not in there. */
static int with_nobody(void *source_context, threads_change change, void *context)
{
    (void)source_context;
    return change(context, NULL, 0);
}

int hook_transaction_commit_patches(struct hook_table *table)
{
    const struct patch_environment environment = {.memory = &table->memory, .stop = with_nobody};

    return table->options.is_held ? patch_transaction_commit(&table->patches, &environment) : commit_stopped(table);
}

/* ---- transactions ------------------------------------------------------------------------------------------------ */

/*
 * The descriptor is open only while the lock is held: a child that was forked would change its parent by it, and
 * programs close descriptors that they do not know.
 */
static void unlock(struct hook_table *table)
{
    forced_memory_deinit(&table->memory);
    if (!table->options.is_held)
        owner_lock_release(&table->lock);
}

static int lock(struct hook_table *table)
{
    if (table->options.is_held)
        return table->depth == 0 ? 0 : -EDEADLK;
    return owner_lock_acquire(&table->lock, LOCK_TIMEOUT_MS);
}

int hook_transaction_enter(struct hook_table *table, uint64_t user_stack)
{
    int result = lock(table);

    if (result == 0) {
        table->depth = 0;
        result = forced_memory_init(&table->memory);
        if (result != 0)
            unlock(table);
    } else if (result == -EDEADLK) {
        result = 0;
    }
    if (result != 0)
        return result;
    table->depth++;
    table->user_stack = user_stack;
    return 0;
}

/* One that is held may have been left by a thread that is no more, as in a forked child, whose descriptors it is not.
 */
int hook_table_begin(struct hook_table *table)
{
    if (table->options.is_held) {
        table->depth = 0;
        table->memory.fd = -1;
    }
    return hook_transaction_enter(table, USER_STACK);
}

void table_site_publish(struct table_site *site, const struct hook_listeners *list)
{
    /* Release: pairs with the acquire of who calls listeners. */
    atomic_store_explicit(&site->hook.function.listeners, list, memory_order_release);
}

static int build_all(struct hook_table *table)
{
    struct site_maker maker = hook_table_maker(table);

    LIST_FOR_EACH (node, &table->dirty_sites) {
        struct table_site *site = dirty_site_of(node);
        int result = site->is_built ? 0 : table_site_build(site, &table->patches, &maker);

        if (result != 0)
            return result;
        if (!site->hook.patch.is_in_place)
            table_site_publish(site, site->wanted.listeners);
    }
    return near_memory_commit(&table->code);
}

void hook_transaction_settle(struct hook_table *table, struct table_site *site, bool is_committed)
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

static void settle_site(struct hook_table *table, struct table_site *site)
{
    table_site_settle(site);
    table_site_publish(site, site->wanted.listeners);
    if (site->now.listeners != site->wanted.listeners)
        listener_list_retire(&table->lists, site->now.listeners);
    site->now = site->wanted;
    hook_transaction_settle(table, site, true);
    if (table_site_is_idle(site) && !table->options.is_held)
        table_sites_give_bytes_back(table, site);
}

static void give_up_site(struct hook_table *table, struct table_site *site)
{
    table_site_give_up(site);
    table_site_publish(site, site->now.listeners);
    /* Somebody may have got it, if the site was in place. */
    if (site->now.listeners != site->wanted.listeners)
        listener_list_retire(&table->lists, site->wanted.listeners);
    site->wanted = site->now;
    hook_transaction_settle(table, site, false);
    if (table_site_is_idle(site))
        table_sites_give_bytes_back(table, site);
}

/* From the last one on: bytes of code are given back quickest in the other order than they are taken in. */
static void finish_all(struct hook_table *table, bool is_committed)
{
    while (!list_is_empty(&table->dirty_sites)) {
        struct table_site *site = dirty_site_of(list_last(&table->dirty_sites));

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

int hook_transaction_commit_all(struct hook_table *table)
{
    int result = build_all(table);

    trap_table_renew();
    if (result == 0 && table->patches.count > 0)
        result = hook_transaction_commit_patches(table);
    table->patches.count = 0;
    finish_all(table, result == 0);
    hash_map_reclaim(&table->sites);
    if (!table->options.is_held && !is_in_listener())
        listener_lists_collect(&table->lists);
    return result;
}

int hook_table_make(struct hook_table *table)
{
    return hook_transaction_commit_all(table);
}

static int leave(struct hook_table *table)
{
    int result = table->depth == 1 ? hook_transaction_commit_all(table) : 0;

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
    table->patches.count = 0;
    finish_all(table, false);
    table->depth = 0;
    unlock(table);
}

void hook_table_pause(struct hook_table *table)
{
    table->depth = 0;
    unlock(table);
}

/* For calls that are transactions by themselves: the end of one, with what came of the call. */
int hook_transaction_end_call(struct hook_table *table, int result)
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
