/* SPDX-License-Identifier: MIT */
#include "base/interval_map.h"

#include "support/check.h"

#include <errno.h>

#define SPACE  2000
#define ROUNDS 30000

static uint64_t value_at(const struct interval_map *map, uint64_t address)
{
    struct interval interval = {.value = 0};

    return interval_map_find(map, address, &interval) ? interval.value : 0;
}

static void ranges_contain_their_start_and_not_their_end(void)
{
    struct interval_map map;
    struct interval found;

    interval_map_init(&map);
    CHECK_EQUAL(value_at(&map, 0), 0);
    CHECK_EQUAL(interval_map_insert(&map, 100, 200, 1), 0);
    CHECK_EQUAL(interval_map_insert(&map, 200, 300, 2), 0);
    CHECK_EQUAL(interval_map_insert(&map, 0, 1, 3), 0);
    CHECK_EQUAL(interval_map_insert(&map, UINT64_MAX - 1, UINT64_MAX, 4), 0);
    CHECK_EQUAL(value_at(&map, 99), 0);
    CHECK_EQUAL(value_at(&map, 100), 1);
    CHECK_EQUAL(value_at(&map, 199), 1);
    CHECK_EQUAL(value_at(&map, 200), 2);
    CHECK_EQUAL(value_at(&map, 300), 0);
    CHECK_EQUAL(value_at(&map, 0), 3);
    CHECK_EQUAL(value_at(&map, UINT64_MAX - 1), 4);
    CHECK_EQUAL(value_at(&map, UINT64_MAX), 0);
    CHECK(interval_map_find(&map, 150, &found));
    CHECK(found.start == 100 && found.end == 200);
    CHECK(interval_map_check(&map));
    interval_map_deinit(&map);
    CHECK_EQUAL(interval_map_count(&map), 0);
}

static void empty_and_overlapping_ranges_are_refused(void)
{
    struct interval_map map;

    interval_map_init(&map);
    CHECK_EQUAL(interval_map_insert(&map, 100, 200, 1), 0);
    CHECK_EQUAL(interval_map_insert(&map, 5, 5, 2), -EINVAL);
    CHECK_EQUAL(interval_map_insert(&map, 6, 5, 2), -EINVAL);
    CHECK_EQUAL(interval_map_remove(&map, 6, 5), -EINVAL);
    CHECK_EQUAL(interval_map_insert(&map, 0, 101, 2), -EEXIST);
    CHECK_EQUAL(interval_map_insert(&map, 199, 300, 2), -EEXIST);
    CHECK_EQUAL(interval_map_insert(&map, 120, 130, 2), -EEXIST);
    CHECK_EQUAL(interval_map_insert(&map, 0, 1000, 2), -EEXIST);
    CHECK_EQUAL(interval_map_insert(&map, 100, 200, 2), -EEXIST);
    CHECK_EQUAL(interval_map_count(&map), 1);
    CHECK(interval_map_overlaps(&map, 199, 200));
    CHECK(!interval_map_overlaps(&map, 200, 400));
    CHECK(!interval_map_overlaps(&map, 150, 150));
    interval_map_deinit(&map);
}

static void removing_cuts_and_splits(void)
{
    struct interval_map map;

    interval_map_init(&map);
    CHECK_EQUAL(interval_map_insert(&map, 100, 200, 1), 0);
    CHECK_EQUAL(interval_map_insert(&map, 300, 400, 2), 0);
    CHECK_EQUAL(interval_map_insert(&map, 500, 600, 3), 0);
    CHECK_EQUAL(interval_map_remove(&map, 140, 160), 0);
    CHECK_EQUAL(interval_map_count(&map), 4);
    CHECK_EQUAL(interval_map_at(&map, 0)->end, 140);
    CHECK_EQUAL(interval_map_at(&map, 1)->start, 160);
    CHECK_EQUAL(interval_map_at(&map, 1)->value, 1);
    CHECK_EQUAL(interval_map_remove(&map, 180, 550), 0);
    CHECK_EQUAL(interval_map_count(&map), 3);
    CHECK_EQUAL(interval_map_at(&map, 1)->end, 180);
    CHECK_EQUAL(interval_map_at(&map, 2)->start, 550);
    CHECK_EQUAL(interval_map_remove(&map, 1000, 2000), 0);
    CHECK_EQUAL(interval_map_remove(&map, 0, UINT64_MAX), 0);
    CHECK_EQUAL(interval_map_count(&map), 0);
    CHECK_EQUAL(interval_map_remove(&map, 0, UINT64_MAX), 0);
    interval_map_deinit(&map);
}

static void iteration_is_in_the_order_of_addresses(void)
{
    struct interval_map map;

    interval_map_init(&map);
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t start = i * 7919 % 1000 * 10;

        CHECK_EQUAL(interval_map_insert(&map, start, start + 5, start), 0);
    }
    CHECK_EQUAL(interval_map_count(&map), 1000);
    for (size_t i = 0; i < 1000; i++)
        CHECK_EQUAL(interval_map_at(&map, i)->value, i * 10);
    CHECK_EQUAL(interval_map_index_from(&map, 0), 0);
    CHECK_EQUAL(interval_map_index_from(&map, 4), 0);
    CHECK_EQUAL(interval_map_index_from(&map, 5), 1);
    CHECK_EQUAL(interval_map_index_from(&map, 9995), 1000);
    interval_map_deinit(&map);
}

static bool is_free(const uint8_t *model, uint64_t start, uint64_t end)
{
    while (start < end) {
        if (model[start++] != 0)
            return false;
    }
    return true;
}

static void random_use_agrees_with_an_array_of_bytes(void)
{
    static uint8_t model[SPACE];
    struct interval_map map;

    interval_map_init(&map);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = (uint64_t)rand() % SPACE, length = 1 + (uint64_t)rand() % (rand() % 10 == 0 ? 300 : 10);
        uint64_t end = start + length < SPACE ? start + length : SPACE;
        uint8_t value = (uint8_t)(1 + rand() % 255);

        if (rand() % 3 != 0) {
            bool room = is_free(model, start, end);

            CHECK_EQUAL(interval_map_overlaps(&map, start, end), !room);
            CHECK_EQUAL(interval_map_insert(&map, start, end, value), room ? 0 : -EEXIST);
            if (room)
                memset(model + start, value, end - start);
        } else {
            CHECK_EQUAL(interval_map_remove(&map, start, end), 0);
            memset(model + start, 0, end - start);
        }
        CHECK(interval_map_check(&map));
        for (uint64_t address = 0; round % 20 == 0 && address < SPACE; address++)
            CHECK_EQUAL(value_at(&map, address), model[address]);
    }
    interval_map_deinit(&map);
}

static void check_notices_damage(void)
{
    struct interval_map map;

    interval_map_init(&map);
    CHECK_EQUAL(interval_map_insert(&map, 10, 20, 1), 0);
    CHECK_EQUAL(interval_map_insert(&map, 30, 40, 1), 0);
    map.intervals[0].end = 31;
    CHECK(!interval_map_check(&map));
    map.intervals[0].end = 10;
    CHECK(!interval_map_check(&map));
    map.intervals[0].end = 20;
    interval_map_deinit(&map);
}

static const struct check_case cases[] = {
    CHECK_CASE(ranges_contain_their_start_and_not_their_end),
    CHECK_CASE(empty_and_overlapping_ranges_are_refused),
    CHECK_CASE(removing_cuts_and_splits),
    CHECK_CASE(iteration_is_in_the_order_of_addresses),
    CHECK_CASE(random_use_agrees_with_an_array_of_bytes),
    CHECK_CASE(check_notices_damage),
};

CHECK_MAIN(cases)
