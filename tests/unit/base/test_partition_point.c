/* SPDX-License-Identifier: MIT */
#include "base/partition_point.h"

#include "support/check.h"

static const int numbers[] = {1, 3, 3, 3, 7, 9};

#define COUNT (sizeof(numbers) / sizeof(numbers[0]))

static void the_items_in_front_are_counted(void)
{
    CHECK_EQUAL(PARTITION_POINT(COUNT, i, numbers[i] < 3), 1);
    CHECK_EQUAL(PARTITION_POINT(COUNT, i, numbers[i] <= 3), 4);
    CHECK_EQUAL(PARTITION_POINT(COUNT, i, numbers[i] <= 8), 5);
}

static void all_or_none_may_be_in_front(void)
{
    CHECK_EQUAL(PARTITION_POINT(COUNT, i, numbers[i] < 1), 0);
    CHECK_EQUAL(PARTITION_POINT(COUNT, i, numbers[i] <= 9), COUNT);
    CHECK_EQUAL(PARTITION_POINT(0, i, numbers[i] <= 9), 0);
}

/* Every length and every place in it, so that no middle is rounded wrongly. */
static void every_place_is_found(void)
{
    for (size_t count = 0; count < 40; count++)
        for (size_t place = 0; place <= count; place++)
            CHECK_EQUAL(PARTITION_POINT(count, i, i < place), place);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_items_in_front_are_counted),
    CHECK_CASE(all_or_none_may_be_in_front),
    CHECK_CASE(every_place_is_found),
};

CHECK_MAIN(cases)
