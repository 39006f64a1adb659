/* SPDX-License-Identifier: MIT */
#include "view/code_ranges.h"

#include "support/check.h"

static struct code_ranges ranges;

/* "10-20*3 20-30*1": as text. */
static const char *made_of(const struct code_range *blocks, size_t count)
{
    static char text[512];

    text[0] = '\0';
    CHECK_EQUAL(code_ranges_make(&ranges, blocks, count), 0);
    for (size_t i = 0; i < ranges.count; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%" PRIu64 "-%" PRIu64 "*%" PRIu64,
                 i == 0 ? "" : " ", ranges.ranges[i].start, ranges.ranges[i].end, ranges.ranges[i].count);
    code_ranges_deinit(&ranges);
    return text;
}

static void blocks_apart_stay_as_they_are(void)
{
    CHECK_TEXT(made_of((struct code_range[]){{30, 40, 2}, {10, 20, 1}}, 2), "10-20*1 30-40*2");
    CHECK_TEXT(made_of(NULL, 0), "");
}

/* A block that is jumped into has run as often from there on as both. */
static void what_overlaps_has_run_as_often_as_all(void)
{
    CHECK_TEXT(made_of((struct code_range[]){{10, 30, 5}, {20, 30, 2}}, 2), "10-20*5 20-30*7");
    CHECK_TEXT(made_of((struct code_range[]){{10, 40, 1}, {20, 30, 1}, {20, 30, 1}}, 3), "10-20*1 20-30*3 30-40*1");
    CHECK_TEXT(made_of((struct code_range[]){{10, 20, 4}, {20, 30, 4}}, 2), "10-30*4");
}

static void nonsense_is_left_out(void)
{
    CHECK_TEXT(made_of((struct code_range[]){{10, 10, 5}, {UINT64_MAX, 3, 5}, {1, 2, 1}}, 3), "1-2*1");
}

static void bytes_and_counts_are_those_of_a_part(void)
{
    const struct code_range blocks[] = {{10, 30, 5}, {20, 30, 2}, {40, 50, 1}};

    CHECK_EQUAL(code_ranges_make(&ranges, blocks, 3), 0);
    CHECK_EQUAL(code_ranges_bytes(&ranges, 0, 100), 30);
    CHECK_EQUAL(code_ranges_bytes(&ranges, 15, 45), 20);
    CHECK_EQUAL(code_ranges_bytes(&ranges, 30, 40), 0);
    CHECK_EQUAL(code_ranges_bytes(&ranges, 12, 12), 0);
    CHECK_EQUAL(code_ranges_most(&ranges, 0, 100), 7);
    CHECK_EQUAL(code_ranges_most(&ranges, 0, 20), 5);
    CHECK_EQUAL(code_ranges_most(&ranges, 30, 41), 1);
    CHECK_EQUAL(code_ranges_most(&ranges, 30, 40), 0);
    CHECK_EQUAL(code_ranges_most(&ranges, 50, 60), 0);
    code_ranges_deinit(&ranges);
}

static const struct check_case cases[] = {
    CHECK_CASE(blocks_apart_stay_as_they_are),
    CHECK_CASE(what_overlaps_has_run_as_often_as_all),
    CHECK_CASE(nonsense_is_left_out),
    CHECK_CASE(bytes_and_counts_are_those_of_a_part),
};

CHECK_MAIN(cases)
