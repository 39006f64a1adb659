/* SPDX-License-Identifier: MIT */
#include "base/mapped_array.h"

#include "base/memory_map.h"
#include "support/check.h"

#include <errno.h>
#include <stdint.h>

static void items_stay_as_the_array_grows(void)
{
    uint64_t *items = NULL;
    size_t capacity = 0, moves = 0;

    for (uint64_t i = 0; i < 20000; i++) {
        size_t before = capacity;

        CHECK_EQUAL(MAPPED_ARRAY_RESERVE(items, capacity, i + 1), 0);
        CHECK(capacity > i);
        moves += capacity != before;
        items[i] = i;
    }
    for (uint64_t i = 0; i < 20000; i++)
        CHECK_EQUAL(items[i], i);
    CHECK(moves < 10);
    MAPPED_ARRAY_RELEASE(items, capacity);
    CHECK(items == NULL && capacity == 0);
}

static void added_room_is_zero(void)
{
    uint32_t *items = NULL;
    size_t capacity = 0, filled = 0;

    for (size_t count = 1; count < 10000; count = 4 * count + 3) {
        CHECK_EQUAL(MAPPED_ARRAY_RESERVE(items, capacity, count), 0);
        for (size_t i = 0; i < capacity; i++)
            CHECK_EQUAL(items[i], i < filled ? 7 : 0);
        for (filled = 0; filled < capacity; filled++)
            items[filled] = 7;
    }
    MAPPED_ARRAY_RELEASE(items, capacity);
}

static void all_of_a_page_is_used(void)
{
    struct odd {
        char bytes[24];
    } *items = NULL;
    size_t capacity = 0;

    CHECK_EQUAL(MAPPED_ARRAY_RESERVE(items, capacity, 1), 0);
    CHECK_EQUAL(capacity, memory_page_size() / sizeof(*items));
    MAPPED_ARRAY_RELEASE(items, capacity);
}

static void items_may_be_larger_than_a_page(void)
{
    struct large {
        char bytes[70001];
    } *items = NULL;
    size_t capacity = 0;

    for (size_t i = 0; i < 9; i++) {
        CHECK_EQUAL(MAPPED_ARRAY_RESERVE(items, capacity, i + 1), 0);
        memset(&items[i], (int)i + 1, sizeof(items[i]));
    }
    for (size_t i = 0; i < 9; i++)
        CHECK(items[i].bytes[0] == (char)(i + 1) && items[i].bytes[70000] == (char)(i + 1));
    MAPPED_ARRAY_RELEASE(items, capacity);
}

static void what_cannot_be_had_changes_nothing(void)
{
    uint64_t *items = NULL, *first;
    size_t capacity = 0, before;

    CHECK_EQUAL(MAPPED_ARRAY_RESERVE(items, capacity, 1), 0);
    items[0] = 42;
    first = items;
    before = capacity;
    CHECK_EQUAL(MAPPED_ARRAY_RESERVE(items, capacity, SIZE_MAX / sizeof(*items) + 2), -ENOMEM);
    CHECK_EQUAL(MAPPED_ARRAY_RESERVE(items, capacity, SIZE_MAX / sizeof(*items)), -ENOMEM);
    CHECK_EQUAL(MAPPED_ARRAY_RESERVE(items, capacity, SIZE_MAX / sizeof(*items) / 2), -ENOMEM);
    CHECK(items == first && capacity == before && items[0] == 42);
    MAPPED_ARRAY_RELEASE(items, capacity);
}

static void an_empty_array_is_released_too(void)
{
    uint64_t *items = NULL;
    size_t capacity = 0;

    MAPPED_ARRAY_RELEASE(items, capacity);
    CHECK(items == NULL && capacity == 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(items_stay_as_the_array_grows),
    CHECK_CASE(added_room_is_zero),
    CHECK_CASE(all_of_a_page_is_used),
    CHECK_CASE(items_may_be_larger_than_a_page),
    CHECK_CASE(what_cannot_be_had_changes_nothing),
    CHECK_CASE(an_empty_array_is_released_too),
};

CHECK_MAIN(cases)
