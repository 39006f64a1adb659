/* SPDX-License-Identifier: MIT */
#include "query/function_sums.h"

#include "support/check.h"
#include "support/query_lab.h"

static struct query_lab lab;

static void sums_are_by_function_and_what_is_mapped(void)
{
    struct function_sums sums;
    uint32_t first, second;

    query_lab_init(&lab);
    function_sums_init(&sums, &lab.trace);
    first = function_sums_find(&sums, 0, 0x401000, 2000);
    second = function_sums_find(&sums, 0, 0x401000, 6000);
    CHECK(first != second);
    CHECK_EQUAL(function_sums_find(&sums, 0, 0x401000, 3000), first);
    CHECK_EQUAL(function_sums_find(&sums, 0, 0x401000, 7000), second);
    CHECK_EQUAL(sums.count, 2);
    CHECK_EQUAL(sums.sums[first].shortest, UINT64_MAX);
    function_sums_clear(&sums);
    CHECK_EQUAL(sums.count, 0);
    CHECK_EQUAL(function_sums_find(&sums, 0, 0x401000, 6000), 0);
    function_sums_deinit(&sums);
    query_lab_deinit(&lab);
}

static void many_are_found_again(void)
{
    struct function_sums sums;

    query_lab_init(&lab);
    function_sums_init(&sums, &lab.trace);
    for (unsigned round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 5000; i++) {
            CHECK_EQUAL(function_sums_find(&sums, 0, 0x10000 + 16 * (uint64_t)i, 2000), i);
            sums.sums[i].calls++;
        }
    CHECK_EQUAL(sums.count, 5000);
    CHECK_EQUAL(sums.sums[4999].calls, 2);
    function_sums_deinit(&sums);
    query_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(sums_are_by_function_and_what_is_mapped),
    CHECK_CASE(many_are_found_again),
};

CHECK_MAIN(cases)
