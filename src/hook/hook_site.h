/* SPDX-License-Identifier: MIT */
/*
 * A hooked address: its patch, its trampoline, its stub, and what is wanted there, now and once the transaction is
 * committed. Used by hook/hook_table.c, which has the lock.
 */
#ifndef GAIT_HOOK_HOOK_SITE_H
#define GAIT_HOOK_HOOK_SITE_H

#include "base/attributes.h"
#include "base/list.h"
#include "base/pool.h"
#include "hook/hook_stub.h"
#include "hook/patch.h"
#include "process/near_memory.h"

#include <stdbool.h>
#include <stdint.h>

struct hook_site;
struct patch_transaction;

/* What is wanted at a site. All zeroes: nothing. */
struct site_wish {
    const struct hook_listeners *listeners;
    uint64_t replacement;
    uint32_t record_number;
    bool is_recorded;
    bool is_in_place; /* of the replacement */
};

/* Machine code of a site. Its own memory is freed when the code's is. */
struct site_code {
    struct near_piece piece;
    struct hook_site *site;
    uint64_t entry;
    uint64_t target; /* of a stub: what it calls; of a jump: where it goes */
    unsigned parts;  /* of a stub: enum hook_stub_part */
    uint32_t record_number;
};

struct hook_site {
    struct hook_function function;
    struct patch patch;
    struct site_code *trampoline;
    struct site_code *stub;      /* that the patch leads to, or led to; NULL: none, or straight to a replacement */
    struct site_code *next_stub; /* after the commit */
    uint64_t next_target;        /* the same, where the patch leads then */
    struct site_wish now;
    struct site_wish wanted;
    struct list_node attachments;
    struct list_node node;  /* of all sites */
    struct list_node dirty; /* of those that a transaction changes */
    uint32_t last_serial;
    uint32_t code_count; /* pieces of code that there are, those given back too */
    bool is_probe;
    bool is_exposed;      /* the program may have the address of the trampoline */
    bool is_dead;         /* no longer found by its address: goes when its code does */
    bool has_taken_bytes; /* they are in the table's map */
};

/* Where the code of sites is made. */
struct site_maker {
    const struct forced_memory *memory;
    struct near_memory *code;
    struct pool *codes; /* of struct site_code */
};

static inline bool site_wish_is_empty(const struct site_wish *wish)
{
    return wish->listeners == NULL && wish->replacement == 0 && !wish->is_recorded;
}

/* Prepares the patch and writes the trampoline. Errors as patch_prepare, near_memory_begin, trampoline_write. */
MUST_USE int hook_site_init(struct hook_site *site, const struct hook_plan *plan, bool is_probe,
                            const struct site_maker *maker);

/*
 * Writes what is needed for `wanted`, and adds the change of the patch to the transaction; afterwards
 * hook_site_settle or hook_site_give_up is called. Errors as hook_stub_write, near_memory_begin, patch_transaction_*.
 */
MUST_USE int hook_site_build(struct hook_site *site, struct patch_transaction *transaction,
                             const struct site_maker *maker);

/* It was committed: what is not needed any more is given back. */
void hook_site_settle(struct hook_site *site);

/* It was not. */
void hook_site_give_up(struct hook_site *site);

/* Gives all code back. It is not in place. */
void hook_site_release(struct hook_site *site);

#endif
