/* SPDX-License-Identifier: MIT */
#include "hook/thread_table.h"

#include "support/check.h"
#include "support/random.h"

#define CAPACITY 64u

static struct thread_table table;

static void what_is_added_is_found_until_it_is_removed(void)
{
    uint32_t index;

    CHECK_EQUAL(thread_table_init(&table, CAPACITY), 0);
    CHECK(!thread_table_find(&table, 100, &index));
    for (uint32_t i = 0; i < CAPACITY; i++)
        thread_table_add(&table, 100 + i * 3, i);
    for (uint32_t i = 0; i < CAPACITY; i++) {
        CHECK(thread_table_find(&table, 100 + i * 3, &index));
        CHECK_EQUAL(index, i);
        CHECK(!thread_table_find(&table, 101 + i * 3, &index));
    }
    thread_table_remove(&table, 103);
    CHECK(!thread_table_find(&table, 103, &index));
    CHECK(thread_table_find(&table, 106, &index) && index == 2);
    thread_table_remove(&table, 103);
    thread_table_clear(&table);
    CHECK(!thread_table_find(&table, 100, &index));
    thread_table_deinit(&table);
}

/* Threads come and go all the time: those that went are not in the way of looking for those that never were. */
static void it_does_not_fill_with_what_was_removed(void)
{
    uint32_t index, tids[CAPACITY] = {0}, next = 1000;
    struct random random;

    random_init(&random, 7);
    CHECK_EQUAL(thread_table_init(&table, CAPACITY), 0);
    for (unsigned i = 0; i < 20000; i++) {
        unsigned which = (unsigned)random_below(&random, CAPACITY);

        if (tids[which] != 0)
            thread_table_remove(&table, tids[which]);
        tids[which] = next++;
        thread_table_add(&table, tids[which], which);
        which = (unsigned)random_below(&random, CAPACITY);
        if (tids[which] != 0)
            CHECK(thread_table_find(&table, tids[which], &index) && index == which);
    }
    for (unsigned i = 0; i < CAPACITY; i++)
        if (tids[i] != 0)
            thread_table_remove(&table, tids[i]);
    for (uint32_t i = 0; i <= table.mask; i++)
        CHECK((uint32_t)table.places[i] == 0 || (uint32_t)table.places[i] == UINT32_MAX);
    CHECK(!thread_table_find(&table, 5, &index));
    thread_table_deinit(&table);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_added_is_found_until_it_is_removed),
    CHECK_CASE(it_does_not_fill_with_what_was_removed),
};

int main(void)
{
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
