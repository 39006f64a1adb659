/* SPDX-License-Identifier: MIT */
/* Places are found by any address in them, also many, and what was given up is forgotten. */
#include "stalker/code_place.h"

#include "support/check.h"

static struct code_place_list list;

static void add(uint32_t start, uint16_t size_bytes)
{
    struct code_place_record record = {.start = start, .size_bytes = size_bytes};

    CHECK_EQUAL(code_place_add(&list, &record), 0);
    CHECK_EQUAL(code_place_last(&list)->start, start);
}

static uint32_t start_at(uint32_t offset)
{
    const struct code_place_record *record = code_place_find(&list, offset);

    return record == NULL ? 0 : record->start;
}

static void addresses_find_their_places(void)
{
    CHECK_EQUAL(start_at(100), 0);
    CHECK(code_place_last(&list) == NULL);
    for (uint32_t i = 1; i <= 9000; i++)
        add(i * 100, 60);
    for (uint32_t i = 1; i <= 9000; i++) {
        CHECK_EQUAL(start_at(i * 100), i * 100);
        CHECK_EQUAL(start_at(i * 100 + 59), i * 100);
        CHECK_EQUAL(start_at(i * 100 + 60), 0);
    }
    CHECK_EQUAL(start_at(99), 0);
    code_place_list_deinit(&list);
    CHECK_EQUAL(start_at(100), 0);
}

static void what_was_given_up_is_forgotten(void)
{
    add(100, 10);
    add(200, 10);
    add(300, 10);
    add(200, 50);
    CHECK_EQUAL(start_at(245), 200);
    CHECK_EQUAL(start_at(300), 0);
    CHECK_EQUAL(start_at(105), 100);
    code_place_list_deinit(&list);
}

static const struct check_case cases[] = {
    CHECK_CASE(addresses_find_their_places),
    CHECK_CASE(what_was_given_up_is_forgotten),
};

CHECK_MAIN(cases)
