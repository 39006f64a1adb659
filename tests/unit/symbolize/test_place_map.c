/* SPDX-License-Identifier: MIT */
#include "symbolize/place_map.h"

#include "support/check.h"

static struct place_map map;

static void what_was_put_in_is_found(void)
{
    uint64_t value = 7;

    place_map_init(&map);
    CHECK(!place_map_find(&map, 0, &value));
    for (uint64_t i = 0; i < 10000; i++)
        place_map_add(&map, i * i * 8, i);
    for (uint64_t i = 0; i < 10000; i++)
        CHECK(place_map_find(&map, i * i * 8, &value) && value == i);
    CHECK(!place_map_find(&map, 3, &value));
    place_map_deinit(&map);
}

static void an_emptied_one_has_nothing_and_fills_again(void)
{
    uint64_t value = 7;

    place_map_init(&map);
    for (uint64_t round = 0; round < 100; round++) {
        place_map_clear(&map);
        for (uint64_t i = 0; i < 200; i++) {
            CHECK(!place_map_find(&map, i, &value));
            place_map_add(&map, i, i + round);
        }
        for (uint64_t i = 0; i < 200; i++)
            CHECK(place_map_find(&map, i, &value) && value == i + round);
    }
    CHECK_EQUAL(map.slot_count, 1024);
    place_map_deinit(&map);
    place_map_deinit(&map);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_was_put_in_is_found),
    CHECK_CASE(an_emptied_one_has_nothing_and_fills_again),
};

CHECK_MAIN(cases)
