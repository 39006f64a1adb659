/* SPDX-License-Identifier: MIT */
#include "base/alignment.h"

#include "support/check.h"

static void multiples_stay_as_they_are(void)
{
    for (uint64_t alignment = 1; alignment != 0; alignment *= 2) {
        CHECK_EQUAL(align_up(0, alignment), 0);
        CHECK_EQUAL(align_down(0, alignment), 0);
        CHECK_EQUAL(align_up(alignment, alignment), alignment);
        CHECK_EQUAL(align_down(alignment, alignment), alignment);
    }
}

static void values_between_go_to_their_neighbours(void)
{
    CHECK_EQUAL(align_up(1, 8), 8);
    CHECK_EQUAL(align_up(9, 8), 16);
    CHECK_EQUAL(align_up(15, 8), 16);
    CHECK_EQUAL(align_down(15, 8), 8);
    CHECK_EQUAL(align_down(7, 8), 0);
    CHECK_EQUAL(align_up(0x7fff12345678, 4096), 0x7fff12346000);
    CHECK_EQUAL(align_down(0x7fff12345678, 65536), 0x7fff12340000);
}

static void what_does_not_fit_is_0(void)
{
    CHECK_EQUAL(align_up(UINT64_MAX, 8), 0);
    CHECK_EQUAL(align_up(UINT64_MAX - 7, 8), UINT64_MAX - 7);
    CHECK_EQUAL(align_down(UINT64_MAX, 4096), UINT64_MAX - 4095);
}

static void the_rest_goes_to_the_next_multiple(void)
{
    CHECK_EQUAL(align_rest(0, 4096), 4096);
    CHECK_EQUAL(align_rest(1, 4096), 4095);
    CHECK_EQUAL(align_rest(4095, 4096), 1);
    CHECK_EQUAL(align_rest(UINT64_MAX, 4096), 1);
    for (uint64_t value = 100; value < 5000; value += 7)
        CHECK_EQUAL(value + align_rest(value, 1024), align_up(value + 1, 1024));
}

static const struct check_case cases[] = {
    CHECK_CASE(multiples_stay_as_they_are),
    CHECK_CASE(values_between_go_to_their_neighbours),
    CHECK_CASE(what_does_not_fit_is_0),
    CHECK_CASE(the_rest_goes_to_the_next_multiple),
};

CHECK_MAIN(cases)
