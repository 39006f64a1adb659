/* SPDX-License-Identifier: MIT */
#include "hosted/growing_array.h"

#include "support/check.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

static void items_stay_as_the_array_grows(void)
{
    uint32_t *items = NULL;
    size_t capacity = 0, moves = 0;

    for (uint32_t i = 0; i < 10000; i++) {
        size_t before = capacity;

        CHECK_EQUAL(ARRAY_RESERVE(items, capacity, i + 1), 0);
        CHECK(capacity > i);
        moves += capacity != before;
        items[i] = i;
    }
    for (uint32_t i = 0; i < 10000; i++)
        CHECK_EQUAL(items[i], i);
    CHECK(moves < 14);
    free(items);
}

static void room_that_is_there_is_left_alone(void)
{
    char *bytes = NULL, *first;
    size_t capacity = 0, before;

    CHECK_EQUAL(ARRAY_RESERVE(bytes, capacity, 5000), 0);
    CHECK(capacity >= 5000);
    first = bytes;
    before = capacity;
    CHECK_EQUAL(ARRAY_RESERVE(bytes, capacity, before), 0);
    CHECK(bytes == first && capacity == before);
    CHECK_EQUAL(ARRAY_RESERVE(bytes, capacity, 0), 0);
    CHECK_EQUAL(capacity, before);
    free(bytes);
}

static void large_items_fit_too(void)
{
    struct large {
        char bytes[3000];
    } *items = NULL;
    size_t capacity = 0;

    CHECK_EQUAL(ARRAY_RESERVE(items, capacity, 1), 0);
    CHECK_EQUAL(capacity, 1);
    CHECK_EQUAL(ARRAY_RESERVE(items, capacity, 2), 0);
    CHECK_EQUAL(capacity, 2);
    memset(items, 1, 2 * sizeof(*items));
    free(items);
}

static void what_cannot_be_had_changes_nothing(void)
{
    uint64_t *items = NULL, *first;
    size_t capacity = 0, before;

    CHECK_EQUAL(ARRAY_RESERVE(items, capacity, 1), 0);
    first = items;
    before = capacity;
    items[0] = 42;
    CHECK_EQUAL(ARRAY_RESERVE(items, capacity, SIZE_MAX / sizeof(*items) + 2), -ENOMEM);
    CHECK_EQUAL(ARRAY_RESERVE(items, capacity, SIZE_MAX / sizeof(*items)), -ENOMEM);
    CHECK_EQUAL(ARRAY_RESERVE_ZEROED(items, capacity, SIZE_MAX / 2), -ENOMEM);
    CHECK(items == first && capacity == before && items[0] == 42);
    free(items);
}

static void added_room_is_zero_if_asked_for(void)
{
    uint16_t *items = NULL;
    size_t capacity = 0, filled = 0;

    for (size_t count = 1; count < 5000; count = 3 * count + 1) {
        CHECK_EQUAL(ARRAY_RESERVE_ZEROED(items, capacity, count), 0);
        for (size_t i = 0; i < capacity; i++)
            CHECK_EQUAL(items[i], i < filled ? 7 : 0);
        for (filled = 0; filled < capacity; filled++)
            items[filled] = 7;
    }
    free(items);
}

static void lists_without_a_capacity_hold_powers_of_two(void)
{
    uint32_t *items = NULL;
    size_t count = 0;

    while (count < 1000) {
        uint32_t *before = items;

        CHECK_EQUAL(ARRAY_RESERVE_NEXT(items, count), 0);
        /* Only where the count is a power of two may it have moved. */
        CHECK(items == before || (count & (count - 1)) == 0);
        items[count] = (uint32_t)count;
        count++;
    }
    for (size_t i = 0; i < count; i++)
        CHECK_EQUAL(items[i], i);
    CHECK_EQUAL(ARRAY_RESERVE_NEXT(items, SIZE_MAX / 2 + 1), -ENOMEM);
    free(items);
}

static const struct check_case cases[] = {
    CHECK_CASE(items_stay_as_the_array_grows),
    CHECK_CASE(room_that_is_there_is_left_alone),
    CHECK_CASE(large_items_fit_too),
    CHECK_CASE(what_cannot_be_had_changes_nothing),
    CHECK_CASE(added_room_is_zero_if_asked_for),
    CHECK_CASE(lists_without_a_capacity_hold_powers_of_two),
};

CHECK_MAIN(cases)
