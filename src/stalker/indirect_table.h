/* SPDX-License-Identifier: MIT */
/*
 * The table through which indirect branches find the landings of blocks, by the low bits of their target that differ:
 * those of the alignment of instructions are the same in all. It lies where the CPU's code can name it. Translated code
 * only reads it, at any time; the cache's lock is for all the rest.
 *
 * A table can begin narrow: then a small part of it is there many times over, so that more targets share an entry, and
 * a short program has fewer pages to pay for. It becomes wide where that is no good.
 */
#ifndef GAIT_STALKER_INDIRECT_TABLE_H
#define GAIT_STALKER_INDIRECT_TABLE_H

#include "base/address.h"
#include "base/attributes.h"
#include "base/memory_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Indirect branches index the table by as many low bits of their target, behind those that are the same in all. */
#define INDIRECT_TABLE_ENTRIES 65536u

/* So many entries of a narrow one are apart. */
#define INDIRECT_TABLE_NARROW_ENTRIES 8192u

/* How a CPU's code looks into the table. */
struct indirect_form {
    struct memory_range within; /* all of it lies in here */
    unsigned shift;             /* low bits of targets that are the same in all */
};

struct indirect_table {
    uint64_t *entries;    /* cached addresses; all INDIRECT_TABLE_ENTRIES of them can be read */
    uint64_t missing;     /* what stands where nothing is known: a gate */
    uint32_t entry_count; /* that are apart, and the only ones that are written; 0: there is no table */
    uint32_t taken_count; /* how often an entry was taken from another target while the table was narrow */
    struct indirect_form form;
};

/* -ENOMEM: no memory, or none where the table may lie. */
MUST_USE int indirect_table_init(struct indirect_table *table, const struct indirect_form *form, uint64_t missing,
                                 bool is_narrow);

/* A zeroed one is fine. */
void indirect_table_deinit(struct indirect_table *table);

/* Memory of a narrow one is shared with a child that is forked. */
static inline bool indirect_table_is_narrow(const struct indirect_table *table)
{
    return table->entry_count < INDIRECT_TABLE_ENTRIES;
}

/* Gives each entry memory of its own, also while threads jump through them. -ENOMEM: it stays narrow. */
MUST_USE int indirect_table_widen(struct indirect_table *table);

/* Lets branches to an original address find the landing, which is complete. A narrow table becomes wide in time. */
void indirect_table_set(struct indirect_table *table, struct app_pc target, struct cache_pc landing);

/* Forgets the landing, if it is still there. */
void indirect_table_clear(struct indirect_table *table, struct app_pc target, struct cache_pc landing);

/* Memory that it takes. */
size_t indirect_table_memory(const struct indirect_table *table);

#endif
