/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "stalker/indirect_table.h"

#include "support/check.h"

#include <sys/wait.h>
#include <unistd.h>

#define MISSING 0x123456789abcull
#define TARGET  0x7f0000004321ull
#define LANDING 0x55550000ull

static const struct indirect_form form = {.within = {0x10000, 0x7fff0000}};

/* What a branch finds, as translated code does. */
static uint64_t found(const struct indirect_table *table, uint64_t target)
{
    return __atomic_load_n(&table->entries[target & 0xffff], __ATOMIC_RELAXED);
}

static void set(struct indirect_table *table, uint64_t target, uint64_t landing)
{
    indirect_table_set(table, app_pc_of(target), cache_pc_of(landing));
}

static size_t count_missing(const struct indirect_table *table)
{
    size_t count = 0;

    for (size_t i = 0; i < INDIRECT_TABLE_ENTRIES; i++)
        count += table->entries[i] == MISSING;
    return count;
}

static void a_new_table_leads_to_the_gate_everywhere(void)
{
    for (int is_narrow = 0; is_narrow < 2; is_narrow++) {
        struct indirect_table table;

        CHECK_EQUAL(indirect_table_init(&table, &form, MISSING, is_narrow), 0);
        CHECK_EQUAL(indirect_table_is_narrow(&table), is_narrow);
        CHECK_EQUAL(count_missing(&table), INDIRECT_TABLE_ENTRIES);
        /* Code names entries by a sign-extended 32-bit displacement. */
        CHECK((uintptr_t)(table.entries + INDIRECT_TABLE_ENTRIES) < 1ull << 31);
        indirect_table_deinit(&table);
        indirect_table_deinit(&table);
    }
}

static void landings_are_found_by_the_low_bits_until_they_are_cleared(void)
{
    for (int is_narrow = 0; is_narrow < 2; is_narrow++) {
        struct indirect_table table;

        CHECK_EQUAL(indirect_table_init(&table, &form, MISSING, is_narrow), 0);
        set(&table, TARGET, LANDING);
        CHECK_EQUAL(found(&table, TARGET), LANDING);
        CHECK_EQUAL(found(&table, TARGET + 1), MISSING);
        CHECK_EQUAL(found(&table, TARGET - 1), MISSING);
        /* Of another block that had the entry before. */
        indirect_table_clear(&table, app_pc_of(TARGET), cache_pc_of(LANDING + 1));
        CHECK_EQUAL(found(&table, TARGET), LANDING);
        indirect_table_clear(&table, app_pc_of(TARGET), cache_pc_of(LANDING));
        CHECK_EQUAL(count_missing(&table), INDIRECT_TABLE_ENTRIES);
        indirect_table_deinit(&table);
    }
}

static void a_narrow_table_has_the_same_in_many_places_and_takes_less_memory(void)
{
    size_t times = INDIRECT_TABLE_ENTRIES / INDIRECT_TABLE_NARROW_ENTRIES;
    struct indirect_table table;

    CHECK_EQUAL(indirect_table_init(&table, &form, MISSING, true), 0);
    CHECK_EQUAL(indirect_table_memory(&table), INDIRECT_TABLE_NARROW_ENTRIES * sizeof(uint64_t));
    set(&table, TARGET, LANDING);
    CHECK_EQUAL(count_missing(&table), INDIRECT_TABLE_ENTRIES - times);
    for (size_t i = 0; i < times; i++)
        CHECK_EQUAL(found(&table, TARGET + i * INDIRECT_TABLE_NARROW_ENTRIES), LANDING);
    indirect_table_deinit(&table);
}

static void a_table_that_becomes_wide_keeps_what_is_in_it(void)
{
    struct indirect_table table;
    uint64_t *entries;

    CHECK_EQUAL(indirect_table_init(&table, &form, MISSING, true), 0);
    entries = table.entries;
    set(&table, TARGET, LANDING);
    CHECK_EQUAL(indirect_table_widen(&table), 0);
    CHECK(!indirect_table_is_narrow(&table));
    /* Code that is translated already names it. */
    CHECK(table.entries == entries);
    CHECK_EQUAL(found(&table, TARGET), LANDING);
    CHECK_EQUAL(indirect_table_memory(&table), INDIRECT_TABLE_ENTRIES * sizeof(uint64_t));
    set(&table, TARGET + INDIRECT_TABLE_NARROW_ENTRIES, LANDING + 1);
    CHECK_EQUAL(found(&table, TARGET), LANDING);
    CHECK_EQUAL(found(&table, TARGET + INDIRECT_TABLE_NARROW_ENTRIES), LANDING + 1);
    CHECK_EQUAL(indirect_table_widen(&table), 0);
    CHECK_EQUAL(found(&table, TARGET), LANDING);
    indirect_table_deinit(&table);
}

static void a_table_becomes_wide_where_targets_are_in_each_others_way(void)
{
    struct indirect_table table;
    unsigned rounds = 0;

    CHECK_EQUAL(indirect_table_init(&table, &form, MISSING, true), 0);
    /* As many as there is room for are not. */
    for (uint64_t i = 0; i < INDIRECT_TABLE_NARROW_ENTRIES; i++) {
        set(&table, TARGET + i, LANDING + i);
        set(&table, TARGET + i, LANDING + i);
    }
    CHECK(indirect_table_is_narrow(&table));
    for (; indirect_table_is_narrow(&table) && rounds < 10000; rounds++)
        set(&table, TARGET + rounds % 2 * INDIRECT_TABLE_NARROW_ENTRIES, LANDING + rounds % 2);
    CHECK(rounds > 10 && rounds < 10000);
    set(&table, TARGET, LANDING);
    set(&table, TARGET + INDIRECT_TABLE_NARROW_ENTRIES, LANDING + 1);
    CHECK_EQUAL(found(&table, TARGET), LANDING);
    CHECK_EQUAL(found(&table, TARGET + INDIRECT_TABLE_NARROW_ENTRIES), LANDING + 1);
    indirect_table_deinit(&table);
}

static void a_wide_table_is_not_shared_with_a_child(void)
{
    struct indirect_table table;
    pid_t child;
    int status;

    CHECK_EQUAL(indirect_table_init(&table, &form, MISSING, true), 0);
    CHECK_EQUAL(indirect_table_widen(&table), 0);
    child = fork();
    if (child == 0) {
        set(&table, TARGET, LANDING);
        _exit(found(&table, TARGET) != LANDING);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(found(&table, TARGET), MISSING);
    indirect_table_deinit(&table);
}

static void bits_that_are_the_same_in_all_targets_do_not_count(void)
{
    static const struct indirect_form aligned = {.within = {1ull << 32, 1ull << 46}, .shift = 2};
    struct indirect_table table;

    CHECK_EQUAL(indirect_table_init(&table, &aligned, MISSING, false), 0);
    CHECK((uintptr_t)table.entries >= 1ull << 32);
    for (unsigned i = 0; i < INDIRECT_TABLE_ENTRIES; i++)
        set(&table, TARGET / 4 * 4 + 4 * i, LANDING + i);
    CHECK_EQUAL(count_missing(&table), 0);
    CHECK_EQUAL(found(&table, TARGET >> 2), LANDING);
    CHECK_EQUAL(found(&table, (TARGET >> 2) + 7), LANDING + 7);
    indirect_table_clear(&table, app_pc_of(TARGET / 4 * 4), cache_pc_of(LANDING));
    CHECK_EQUAL(count_missing(&table), 1);
    indirect_table_deinit(&table);
}

static const struct check_case cases[] = {
    CHECK_CASE(bits_that_are_the_same_in_all_targets_do_not_count),
    CHECK_CASE(a_new_table_leads_to_the_gate_everywhere),
    CHECK_CASE(landings_are_found_by_the_low_bits_until_they_are_cleared),
    CHECK_CASE(a_narrow_table_has_the_same_in_many_places_and_takes_less_memory),
    CHECK_CASE(a_table_that_becomes_wide_keeps_what_is_in_it),
    CHECK_CASE(a_table_becomes_wide_where_targets_are_in_each_others_way),
    CHECK_CASE(a_wide_table_is_not_shared_with_a_child),
};

CHECK_MAIN(cases)
