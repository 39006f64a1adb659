/* SPDX-License-Identifier: MIT */
#include "trace/detail_counts.h"

#include "support/check.h"

static void enter(struct detail_counts *counts, uint64_t function, uint64_t time, uint64_t argument)
{
    const uint8_t values[] = {(uint8_t)argument, 1, 2};

    detail_counts_enter(counts,
                        &(struct detail_enter){.record = {.time = time, .function = function}, .arguments = {argument}},
                        (struct detail_values){values, argument % 2 == 0 ? 3 : 1});
}

static void leave(struct detail_counts *counts, uint64_t function, uint64_t from, uint64_t to, uint16_t kind)
{
    detail_counts_leave(counts,
                        &(struct detail_leave){.record = {.kind = kind, .time = to, .function = function},
                                               .entered_time = from,
                                               .value = to},
                        (struct detail_values){(const uint8_t *)"result", 6});
}

static void calls_are_counted_by_function(void)
{
    struct detail_counts counts;

    CHECK_EQUAL(detail_counts_init(&counts), 0);
    enter(&counts, 0x1000, 10, 1);
    leave(&counts, 0x1000, 10, 15, DETAIL_LEAVE);
    enter(&counts, 0x1000, 20, 2);
    leave(&counts, 0x1000, 20, 40, DETAIL_LEFT);
    enter(&counts, 0x1000, 50, 3);
    enter(&counts, 0x2000, 30, 4);
    leave(&counts, 0x2000, 30, 1030, DETAIL_LEAVE);
    /* Time does not go backwards. */
    leave(&counts, 0x2000, 30, 29, DETAIL_LEAVE);
    detail_counts_sort(&counts);
    CHECK_EQUAL(counts.count, 2);
    CHECK_EQUAL(counts.counts[0].address, 0x2000);
    CHECK_EQUAL(counts.counts[0].total, 1000);
    CHECK_EQUAL(counts.counts[0].returns, 1);
    CHECK_EQUAL(counts.counts[1].calls, 3);
    CHECK_EQUAL(counts.counts[1].returns, 2);
    CHECK_EQUAL(counts.counts[1].left, 1);
    CHECK_EQUAL(counts.counts[1].last_values.size_bytes, 1);
    CHECK_EQUAL(counts.counts[1].last_values.bytes[0], 3);
    CHECK_EQUAL(counts.counts[0].last_values.size_bytes, 3);
    CHECK_EQUAL(counts.counts[0].last_result.size_bytes, 6);
    CHECK_EQUAL(counts.counts[1].shortest, 5);
    CHECK_EQUAL(counts.counts[1].longest, 20);
    CHECK_EQUAL(counts.counts[1].last_arguments[0], 3);
    CHECK_EQUAL(counts.counts[1].last_value, 15);
    detail_counts_deinit(&counts);
}

static void there_may_be_many(void)
{
    struct detail_counts counts;

    CHECK_EQUAL(detail_counts_init(&counts), 0);
    for (uint64_t i = 0; i < 10000; i++)
        enter(&counts, 0x1000 + i % 1000 * 16, i, 0);
    CHECK_EQUAL(counts.count, 1000);
    CHECK_EQUAL(counts.counts[7].calls, 10);
    CHECK_EQUAL(counts.result, 0);
    detail_counts_sort(&counts);
    detail_counts_deinit(&counts);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_are_counted_by_function),
    CHECK_CASE(there_may_be_many),
};

CHECK_MAIN(cases)
