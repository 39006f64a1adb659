/* SPDX-License-Identifier: MIT */
/* Where branches and tables of jumps lead, for who looks at code. No libc, no state; one thread a planner. */
#ifndef GAIT_HOOK_JUMP_TABLE_H
#define GAIT_HOOK_JUMP_TABLE_H

#include "hook/hook_planner.h"

#include <stdbool.h>
#include <stdint.h>

/* Marks where a branch in the code leads to, in the code or out of it. */
void hook_planner_add_branch(struct hook_planner *planner, const struct hook_code *code, uint64_t target,
                             bool is_conditional);

enum jump_table_kind {
    JUMP_TABLE_DISTANCES, /* from the table, of 32 bits */
    JUMP_TABLE_POINTERS,
};

/*
 * An address that the code takes, and that may be of a table of jumps: marks where its entries lead, as far as they
 * lead into the code or parts of it. So many of the first ones surely are entries.
 */
void hook_planner_add_table(struct hook_planner *planner, const struct hook_code *code, uint64_t table,
                            enum jump_table_kind kind, uint64_t sure_count);

#endif
