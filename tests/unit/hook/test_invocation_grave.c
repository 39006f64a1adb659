/* SPDX-License-Identifier: MIT */
#include "hook/invocation_grave.h"

#include "support/check.h"

#include <stdatomic.h>

static void bury(uint64_t slot, uint64_t return_address, uint64_t stub)
{
    struct invocation invocation = {.return_address = return_address, .stub = stub};

    atomic_store(&invocation.slot, slot);
    invocation_grave_add(&invocation);
}

static void what_was_buried_is_found_by_slot_and_stub(void)
{
    uint64_t found = 0;

    bury(0x1000, 11, 1);
    bury(0x1000, 12, 2);
    bury(0x2000, 13, 1);
    CHECK(invocation_grave_find(0x1000, 2, false, &found) && found == 12);
    CHECK(invocation_grave_find(0x1000, 1, false, &found) && found == 11);
    CHECK(invocation_grave_find(0x2000, 1, false, &found) && found == 13);
    CHECK(!invocation_grave_find(0x3000, 1, true, &found));
    CHECK(!invocation_grave_find(0x1000, 3, true, &found));
}

/* Of several calls with one slot, each comes back once, the latest first. */
static void each_is_found_once_before_it_is_found_again(void)
{
    uint64_t found = 0;

    bury(0x5000, 21, 1);
    bury(0x5000, 22, 1);
    CHECK(invocation_grave_find(0x5000, 1, false, &found) && found == 22);
    CHECK(invocation_grave_find(0x5000, 1, false, &found) && found == 21);
    CHECK(!invocation_grave_find(0x5000, 1, false, &found));
    CHECK(invocation_grave_find(0x5000, 1, true, &found) && found == 22);
    bury(0x5000, 21, 1);
    CHECK(invocation_grave_find(0x5000, 1, false, &found) && found == 21);
}

static void the_oldest_are_forgotten(void)
{
    uint64_t found = 0;

    bury(0x9000, 31, 1);
    for (uint64_t i = 0; i < 100000; i++)
        bury(0x100000 + i * 8, i, 1);
    CHECK(!invocation_grave_find(0x9000, 1, true, &found));
    CHECK(invocation_grave_find(0x100000 + 99999 * 8, 1, false, &found) && found == 99999);
}

static void all_of_a_stack_can_be_buried(void)
{
    struct invocation_stack stack;
    uint64_t found = 0;

    CHECK_EQUAL(invocation_stack_init(&stack), 0);
    CHECK(invocation_stack_push(&stack, 0xa0000, 41, 7) != NULL);
    CHECK(invocation_stack_push(&stack, 0xb0000, 42, 7) != NULL);
    invocation_grave_add_all(&stack);
    CHECK(invocation_grave_find(0xa0000, 7, false, &found) && found == 41);
    CHECK(invocation_grave_find(0xb0000, 7, false, &found) && found == 42);
    invocation_stack_deinit(&stack);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_was_buried_is_found_by_slot_and_stub),
    CHECK_CASE(each_is_found_once_before_it_is_found_again),
    CHECK_CASE(the_oldest_are_forgotten),
    CHECK_CASE(all_of_a_stack_can_be_buried),
};

int main(void)
{
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
