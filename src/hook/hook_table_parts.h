/* SPDX-License-Identifier: MIT */
/*
 * What hook_table.c, table_sites.c and hook_transaction.c share, and nobody else: the table from within. All functions
 * are for who has the table's lock.
 *
 * Invariants. Bytes of code belong to one site: `taken` has them while its patch is in place or about to be. Sites are
 * found by address in `sites` until they are dead. Listeners are published before a patch leads to them, and taken away
 * after nothing does. The lock is held from begin to commit or abort, by one thread.
 */
#ifndef GAIT_HOOK_HOOK_TABLE_PARTS_H
#define GAIT_HOOK_HOOK_TABLE_PARTS_H

#include "base/hash_map.h"
#include "base/interval_map.h"
#include "base/pool.h"
#include "hook/hook_table.h"
#include "hook/listener_list.h"
#include "hook/live_plans.h"
#include "hook/patch_transaction.h"
#include "hook/table_site.h"
#include "process/forced_memory.h"
#include "process/near_memory.h"
#include "process/owner_lock.h"

struct hook_attachment {
    struct list_node node; /* of the site */
    struct table_site *site;
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
    struct pool call_pool;
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

/* ---- sites: table_sites.c -----------------------------------------------------------------------------------------
 */

static inline struct table_site *site_of(struct list_node *node)
{
    return LIST_ELEMENT(node, struct table_site, node);
}

static inline struct site_maker hook_table_maker(struct hook_table *table)
{
    return (struct site_maker){&table->memory, &table->code, &table->code_pool};
}

/* NULL: there is none. */
struct table_site *table_sites_find(const struct hook_table *table, uint64_t address);

/* The site at an address, made if need be. Errors as hook_table_attach. */
MUST_USE int table_sites_obtain(struct hook_table *table, const struct hook_target *target,
                                struct table_site **site_out);

/* The site changes with the transaction that is open. */
void table_sites_mark(struct hook_table *table, struct table_site *site);

/* Its bytes can be taken for another one. */
void table_sites_give_bytes_back(struct hook_table *table, struct table_site *site);

/* Nobody finds it any more; it is freed with the last of its code. */
void table_sites_bury(struct hook_table *table, struct table_site *site);

/* A piece of a site's code is given back: for near_memory_end_reclaim, whose context is the table. */
void table_sites_forget_code(void *context, struct near_piece *piece);

/* ---- transactions: hook_transaction.c ---------------------------------------------------------------------------- */

/* What is above the frame of the function that our user has called. */
#define USER_STACK ((uintptr_t)__builtin_frame_address(0) + 2 * sizeof(uint64_t))

/* Begins a call by a user, which is a transaction by itself unless one is open. Takes the lock. */
MUST_USE int hook_transaction_enter(struct hook_table *table, uint64_t user_stack);

/* Ends it, with what came of it. */
MUST_USE int hook_transaction_end_call(struct hook_table *table, int result);

/* Makes what is wanted. */
MUST_USE int hook_transaction_commit_all(struct hook_table *table);

/* Makes the patches that are collected, and gives back code that nobody needs. */
MUST_USE int hook_transaction_commit_patches(struct hook_table *table);

/* Whether code may be given back at all. */
bool hook_table_may_reclaim(const struct hook_table *table);

void table_site_publish(struct table_site *site, const struct hook_listeners *list);

/* Attachments that were removed, or that a transaction which is given up had made, go. */
void hook_transaction_settle(struct hook_table *table, struct table_site *site, bool is_committed);

#endif
