/* SPDX-License-Identifier: MIT */
/*
 * A site of the table: what is wanted there now, and once the transaction is committed. Used by hook/hook_table.c,
 * which has the lock.
 */
#ifndef GAIT_HOOK_TABLE_SITE_H
#define GAIT_HOOK_TABLE_SITE_H

#include "base/attributes.h"
#include "base/list.h"
#include "hook/hook_site.h"

#include <stdbool.h>
#include <stdint.h>

struct patch_transaction;

struct table_site {
    struct hook_site hook;
    struct site_lead next; /* after the commit */
    struct site_wish now;
    struct site_wish wanted;
    struct list_node attachments;
    struct list_node node;  /* of all sites */
    struct list_node dirty; /* of those that a transaction changes */
    uint32_t last_serial;
    bool is_built;        /* for what is wanted, before the commit */
    bool is_exposed;      /* the program may have the address of the trampoline */
    bool is_dead;         /* no longer found by its address: goes when its code does */
    bool has_taken_bytes; /* they are in the table's map */
};

/* Nothing is wanted there; `hook` is hook_site_init's. */
void table_site_init(struct table_site *site);

/* Whether nothing is there, nor wanted. */
bool table_site_is_idle(const struct table_site *site);

/*
 * Writes what is needed for `wanted`, and adds the change of the patch to the transaction; afterwards
 * table_site_settle or table_site_give_up is called. Errors as hook_site_lead, patch_transaction_*.
 */
MUST_USE int table_site_build(struct table_site *site, struct patch_transaction *transaction,
                              const struct site_maker *maker);

/* It was committed: what is not needed any more is given back. */
void table_site_settle(struct table_site *site);

/* It was not. */
void table_site_give_up(struct table_site *site);

/* Gives all code back. It is not in place. */
void table_site_release(struct table_site *site);

#endif
