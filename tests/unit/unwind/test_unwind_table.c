/* SPDX-License-Identifier: MIT */
#include "unwind/unwind_table.h"

#include "arch/arch.h"
#include "elf/frame_rows.h"
#include "support/check.h"
#include "support/frame_sections.h"
#include "support/random.h"
#include "unwind/unwind_rule.h"

#include <errno.h>

#define CODE 0x401000u

static const struct arch_frame_registers numbers = {.stack_pointer = 7, .frame_pointer = 6, .return_address = 16};
static const struct unwind_range code = {CODE, CODE + 0x1000};
/* One word more behind the first byte, again one more behind the second. */
static const uint8_t pushes[] = {0x41, 0x0e, 16, 0x41, 0x0e, 24};

static uint64_t frame_bytes_at(const struct unwind_table *table, uint64_t pc)
{
    uint32_t rule = unwind_table_find(table, pc);

    return unwind_rule_kind(rule) == UNWIND_SP ? unwind_rule_frame_bytes(rule) : 0;
}

static void rows_are_found_by_address(void)
{
    struct made_section section = {.address = 0x500000};
    size_t common = made_section_add_usual(&section);
    struct unwind_table table;
    struct eh_frame_entry entry;
    struct eh_frame frame;

    /* Not in order, with a gap. */
    made_section_add_entry(&section, common, CODE + 0x100, 0x20, pushes, sizeof(pushes));
    made_section_add_entry(&section, common, CODE, 0x20, pushes, sizeof(pushes));
    made_section_add_entry(&section, common, CODE + 0x20, 0x20, pushes, 0);
    frame = made_section_frame(&section);
    CHECK_EQUAL(unwind_table_make(&table, &frame, code, &numbers), 0);
    CHECK_EQUAL(frame_bytes_at(&table, CODE - 1), 0);
    CHECK_EQUAL(frame_bytes_at(&table, CODE), 8);
    CHECK_EQUAL(frame_bytes_at(&table, CODE + 1), 16);
    CHECK_EQUAL(frame_bytes_at(&table, CODE + 2), 24);
    CHECK_EQUAL(frame_bytes_at(&table, CODE + 0x1f), 24);
    CHECK_EQUAL(frame_bytes_at(&table, CODE + 0x20), 8);
    CHECK_EQUAL(frame_bytes_at(&table, CODE + 0x3f), 8);
    CHECK_EQUAL(unwind_table_find(&table, CODE + 0x40), 0);
    CHECK_EQUAL(unwind_table_find(&table, CODE + 0xff), 0);
    CHECK_EQUAL(frame_bytes_at(&table, CODE + 0x102), 24);
    CHECK_EQUAL(unwind_table_find(&table, CODE + 0x120), 0);
    CHECK_EQUAL(unwind_table_find(&table, CODE + 0x1000), 0);
    CHECK(unwind_table_entry(&table, CODE + 0x101, &entry));
    CHECK_EQUAL(entry.start, CODE + 0x100);
    CHECK(!unwind_table_entry(&table, CODE + 0x40, &entry));
    CHECK(!unwind_table_entry(&table, CODE - 1, &entry));
    CHECK(!unwind_table_entry(&table, CODE + 0x1000, &entry));
    unwind_table_deinit(&table);
}

static void of_entries_that_overlap_the_later_one_counts(void)
{
    struct made_section section = {.address = 0x500000};
    size_t common = made_section_add_usual(&section);
    struct unwind_table table;
    struct eh_frame frame;

    made_section_add_entry(&section, common, CODE, 0x40, pushes, sizeof(pushes));
    made_section_add_entry(&section, common, CODE + 0x10, 0x10, pushes, 0);
    frame = made_section_frame(&section);
    CHECK_EQUAL(unwind_table_make(&table, &frame, code, &numbers), 0);
    CHECK_EQUAL(frame_bytes_at(&table, CODE + 0xf), 24);
    CHECK_EQUAL(frame_bytes_at(&table, CODE + 0x10), 8);
    CHECK_EQUAL(unwind_table_find(&table, CODE + 0x20), 0);
    unwind_table_deinit(&table);
}

static void what_a_program_says_before_it_makes_no_sense_is_good(void)
{
    static const uint8_t program[] = {0x41, 0x0e, 16, 0x44, 0x3f};
    struct made_section section = {.address = 0x500000};
    size_t common = made_section_add_usual(&section);
    struct unwind_table table;
    struct eh_frame frame;

    made_section_add_entry(&section, common, CODE, 0x40, program, sizeof(program));
    frame = made_section_frame(&section);
    CHECK_EQUAL(unwind_table_make(&table, &frame, code, &numbers), 0);
    CHECK_EQUAL(frame_bytes_at(&table, CODE), 8);
    CHECK_EQUAL(frame_bytes_at(&table, CODE + 4), 16);
    CHECK_EQUAL(unwind_table_find(&table, CODE + 5), 0);
    unwind_table_deinit(&table);
}

static void entries_about_other_code_are_not_believed(void)
{
    struct made_section section = {.address = 0x500000};
    size_t common = made_section_add_usual(&section);
    struct unwind_table table;
    struct eh_frame frame;

    made_section_add_entry(&section, common, 0, 0x40, pushes, 0);
    made_section_add_entry(&section, common, CODE - 8, 0x40, pushes, 0);
    made_section_add_entry(&section, common, CODE + 0xff0, 0x11, pushes, 0);
    frame = made_section_frame(&section);
    CHECK_EQUAL(unwind_table_make(&table, &frame, code, &numbers), -ENOENT);
    CHECK_EQUAL(unwind_table_make(&table, &frame, (struct unwind_range){0, (uint64_t)5 << 30}, &numbers), -E2BIG);
    CHECK_EQUAL(unwind_table_make(&table, &frame, (struct unwind_range){0, 0x40}, &numbers), 0);
    CHECK_EQUAL(frame_bytes_at(&table, 0x3f), 8);
    unwind_table_deinit(&table);
}

/* ---- real sections ----------------------------------------------------------------------------------------------- */

static bool compare_row(void *context, const struct frame_row *row)
{
    const struct unwind_table *table = context;
    uint32_t rule = unwind_rule_of(row, &numbers);

    for (uint64_t pc = row->start; pc<row->end; pc += row->end - row->start> 64 ? (row->end - row->start) / 16 : 1)
        CHECK_EQUAL(unwind_table_find(table, pc), unwind_rule_at(rule, pc));
    CHECK_EQUAL(unwind_table_find(table, row->end - 1), unwind_rule_at(rule, row->end - 1));
    return check_failures > 20;
}

static void tables_of_real_libraries_say_what_their_rows_say(void)
{
    static struct loaded_frames frames[LOADED_FRAMES_MAX];
    static struct frame_rows_storage storage;
    size_t count = loaded_frames_list(frames), simple = 0, all = 0;

    for (size_t i = 0; i < count; i++) {
        struct unwind_range range = {frames[i].code_start, frames[i].code_end};
        struct unwind_table table;
        struct eh_frame_entry entry, found;
        size_t offset = 0;

        CHECK_EQUAL(unwind_table_make(&table, &frames[i].frame, range, &numbers), 0);
        while (eh_frame_next(&frames[i].frame, &offset, &entry) == 1) {
            CHECK_EQUAL(frame_rows_visit(&entry, &storage, compare_row, &table), 0);
            CHECK(unwind_table_entry(&table, entry.end - 1, &found));
            CHECK_EQUAL(found.start, entry.start);
        }
        for (size_t row = 0; row < table.row_count; row++)
            simple += unwind_rule_kind(table.rows[row].rule) != UNWIND_FULL;
        all += table.row_count;
        unwind_table_deinit(&table);
    }
    CHECK(count >= 3);
    /* Else they would not be worth it. */
    CHECK(simple >= all - all / 50);
}

static void damaged_sections_give_tables_or_errors(void)
{
    struct loaded_frames libc = loaded_frames_of("libc.so");
    size_t size_bytes = libc.frame.size_bytes < 30000 ? libc.frame.size_bytes : 30000;
    uint8_t *copy = malloc(size_bytes);
    struct random random;
    unsigned made = 0;

    random_init(&random, 11);
    for (unsigned round = 0; round < 300; round++) {
        struct eh_frame frame = {copy, size_bytes, libc.frame.address};
        struct unwind_range range = {libc.code_start, libc.code_end};
        struct eh_frame_entry entry;
        struct unwind_table table;
        int result;

        if (round % 10 == 0)
            random_fill(&random, copy, size_bytes);
        else
            memcpy(copy, libc.frame.bytes, size_bytes);
        for (unsigned i = 0; i < 1 + round % 40; i++)
            copy[random_below(&random, size_bytes)] = (uint8_t)random_u64(&random);
        result = unwind_table_make(&table, &frame, range, &numbers);
        CHECK(result == 0 || result == -ENOENT);
        for (unsigned i = 0; result == 0 && i < 500; i++) {
            uint64_t pc = range.start + random_below(&random, range.end - range.start);

            CHECK(unwind_rule_kind(unwind_table_find(&table, pc)) <= UNWIND_FULL);
            if (unwind_table_entry(&table, pc, &entry))
                CHECK(pc >= entry.start && pc < entry.end);
        }
        for (size_t row = 1; result == 0 && row < table.row_count; row++)
            CHECK(table.rows[row].start > table.rows[row - 1].start);
        made += result == 0;
        if (result == 0)
            unwind_table_deinit(&table);
    }
    CHECK(made > 200);
    free(copy);
}

static const struct check_case cases[] = {
    CHECK_CASE(rows_are_found_by_address),
    CHECK_CASE(of_entries_that_overlap_the_later_one_counts),
    CHECK_CASE(what_a_program_says_before_it_makes_no_sense_is_good),
    CHECK_CASE(entries_about_other_code_are_not_believed),
    CHECK_CASE(tables_of_real_libraries_say_what_their_rows_say),
    CHECK_CASE(damaged_sections_give_tables_or_errors),
};

CHECK_MAIN(cases)
