/* SPDX-License-Identifier: MIT */
/*
 * Entries are counted, listed, sorted by address, and their rows written one after the other. Where entries overlap,
 * which they should not, the later one wins from its start on; between them is a row that knows nothing.
 */
#include "unwind/unwind_table.h"

#include "arch/arch.h"
#include "base/mapped_array.h"
#include "base/memory_map.h"
#include "base/partition_point.h"
#include "elf/frame_rows.h"
#include "unwind/unwind_rule.h"

#include <asm/errno.h>

/* ---- rows and entries -------------------------------------------------------------------------------------------- */

static int add_row(struct unwind_table *table, uint64_t address, uint32_t rule)
{
    uint32_t start = (uint32_t)(address - table->start);
    int result;

    /* Rows of no length, or of an entry that this one lies over. */
    while (table->row_count > 0 && table->rows[table->row_count - 1].start >= start)
        table->row_count--;
    if (table->row_count > 0 && table->rows[table->row_count - 1].rule == rule)
        return 0;
    result = MAPPED_ARRAY_RESERVE(table->rows, table->row_capacity, table->row_count + 1);
    if (result == 0)
        table->rows[table->row_count++] = (struct unwind_row){start, rule};
    return result;
}

static int add_entry(struct unwind_table *table, const struct eh_frame_entry *entry, uint64_t offset)
{
    int result = MAPPED_ARRAY_RESERVE(table->entries, table->entry_capacity, table->entry_count + 1);

    if (result == 0)
        table->entries[table->entry_count++] = (struct unwind_entry){(uint32_t)(entry->start - table->start),
                                                                     (uint32_t)(entry->end - table->start), offset};
    return result;
}

/* ---- entries by address ------------------------------------------------------------------------------------------ */

static void sift_down(struct unwind_entry *entries, size_t root, size_t count)
{
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        struct unwind_entry entry = entries[root];

        if (child + 1 < count && entries[child + 1].start > entries[child].start)
            child++;
        if (entries[child].start <= entry.start)
            return;
        entries[root] = entries[child];
        entries[child] = entry;
    }
}

/* A heap sort: no memory, and no bad cases. Most sections are sorted, more or less. */
static void sort_entries(struct unwind_entry *entries, size_t count)
{
    for (size_t i = count / 2; i > 0; i--)
        sift_down(entries, i - 1, count);
    for (size_t end = count; end > 1; end--) {
        struct unwind_entry last = entries[end - 1];

        entries[end - 1] = entries[0];
        entries[0] = last;
        sift_down(entries, 0, end - 1);
    }
}

static int list_entries(struct unwind_table *table)
{
    struct eh_frame_entry entry;
    size_t offset = 0, before = 0;
    int result = 0;

    for (; result == 0 && eh_frame_next(&table->frame, &offset, &entry) == 1; before = offset)
        /* Reading from here gives this entry: what is skipped over is skipped again. */
        if (entry.start >= table->start && entry.end <= table->end)
            result = add_entry(table, &entry, before);
    if (result != 0)
        return result;
    sort_entries(table->entries, table->entry_count);
    return table->entry_count == 0 ? -ENOENT : 0;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

struct row_writing {
    struct unwind_table *table;
    const struct arch_frame_registers *registers;
    uint64_t reached; /* what is before it has rows */
    int result;
};

static bool take_row(void *context, const struct frame_row *row)
{
    struct row_writing *writing = context;

    writing->result = add_row(writing->table, row->start, unwind_rule_of(row, writing->registers));
    writing->reached = row->end;
    return writing->result != 0;
}

static int write_rows(struct unwind_table *table, const struct arch_frame_registers *registers)
{
    struct row_writing writing = {table, registers, 0, 0};
    void *storage;

    if (memory_map(sizeof(struct frame_rows_storage), &storage) != 0)
        return -ENOMEM;

    for (size_t i = 0; i < table->entry_count && writing.result == 0; i++) {
        size_t offset = (size_t)table->entries[i].offset;
        struct eh_frame_entry entry;

        if (eh_frame_next(&table->frame, &offset, &entry) != 1)
            continue;
        writing.reached = entry.start;
        /* What a program says up to where it makes no sense is good. */
        (void)!frame_rows_visit(&entry, storage, take_row, &writing);
        if (writing.result == 0)
            writing.result = add_row(table, writing.reached, unwind_rule(UNWIND_UNKNOWN, 0, 0));
    }
    memory_unmap(storage, sizeof(struct frame_rows_storage));
    return writing.result;
}

int unwind_table_make(struct unwind_table *table_out, const struct eh_frame *frame, struct unwind_range code,
                      const struct arch_frame_registers *registers)
{
    struct unwind_table table = {.start = code.start, .end = code.end, .frame = *frame};
    int result = code.end - code.start > UINT32_MAX ? -E2BIG : 0;

    if (result == 0)
        result = list_entries(&table);
    if (result == 0)
        result = write_rows(&table, registers);
    if (result == 0)
        *table_out = table;
    else
        unwind_table_deinit(&table);
    return result;
}

void unwind_table_deinit(struct unwind_table *table)
{
    MAPPED_ARRAY_RELEASE(table->rows, table->row_capacity);
    MAPPED_ARRAY_RELEASE(table->entries, table->entry_capacity);
}

/* ---- searching --------------------------------------------------------------------------------------------------- */

uint32_t unwind_table_find(const struct unwind_table *table, uint64_t pc)
{
    uint32_t place = (uint32_t)(pc - table->start);
    size_t low;

    if (pc < table->start || pc >= table->end)
        return unwind_rule(UNWIND_UNKNOWN, 0, 0);
    low = PARTITION_POINT(table->row_count, i, table->rows[i].start <= place);
    return low == 0 ? unwind_rule(UNWIND_UNKNOWN, 0, 0) : unwind_rule_at(table->rows[low - 1].rule, pc);
}

bool unwind_table_entry(const struct unwind_table *table, uint64_t pc, struct eh_frame_entry *entry_out)
{
    uint32_t place = (uint32_t)(pc - table->start);
    size_t low, offset;

    if (pc < table->start || pc >= table->end)
        return false;
    low = PARTITION_POINT(table->entry_count, i, table->entries[i].start <= place);
    if (low == 0 || place >= table->entries[low - 1].end)
        return false;
    offset = (size_t)table->entries[low - 1].offset;
    return eh_frame_next(&table->frame, &offset, entry_out) == 1;
}
