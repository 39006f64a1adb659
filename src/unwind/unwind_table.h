/* SPDX-License-Identifier: MIT */
/*
 * What .eh_frame of one module says, in a form in which an address is found quickly: eight bytes for each place where
 * the rule changes. After making it does not change; many threads may search. No libc; usable inside the target.
 */
#ifndef GAIT_UNWIND_UNWIND_TABLE_H
#define GAIT_UNWIND_UNWIND_TABLE_H

#include "base/attributes.h"
#include "elf/eh_frame.h"

struct arch_frame_registers;

struct unwind_row {
    uint32_t start; /* from the table's start on; it holds up to the next row */
    uint32_t rule;
};

/* Where an entry of .eh_frame begins, for what rules do not tell. */
struct unwind_entry {
    uint32_t start;
    uint32_t end;
    uint64_t offset; /* in the section */
};

struct unwind_table {
    uint64_t start; /* of the code */
    uint64_t end;
    struct eh_frame frame; /* must stay readable as long as the table is there */
    struct unwind_row *rows;
    size_t row_count;
    size_t row_capacity;
    struct unwind_entry *entries; /* by address */
    size_t entry_count;
    size_t entry_capacity;
};

/* The code of a module. What is said about other addresses is not believed. */
struct unwind_range {
    uint64_t start;
    uint64_t end;
};

/*
 * Makes the table. A section that makes no sense from somewhere on gives what comes before. -ENOENT: there is nothing
 * in it; -ENOMEM; -E2BIG: there are more than 4 GiB of code.
 */
MUST_USE int unwind_table_make(struct unwind_table *table_out, const struct eh_frame *frame, struct unwind_range code,
                               const struct arch_frame_registers *registers);
void unwind_table_deinit(struct unwind_table *table);

/* The rule for code at an address. */
uint32_t unwind_table_find(const struct unwind_table *table, uint64_t pc);

/* The entry of .eh_frame about an address. False: there is none. */
bool unwind_table_entry(const struct unwind_table *table, uint64_t pc, struct eh_frame_entry *entry_out);

#endif
