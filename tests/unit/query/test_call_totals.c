/* SPDX-License-Identifier: MIT */
#include "query/call_totals.h"

#include "support/check.h"
#include "support/query_lab.h"

static struct query_lab lab;

static void check_totals(bool has_times)
{
    struct call_totals *totals = NULL;
    const struct call_total *total;

    query_lab_init(&lab);
    CHECK_EQUAL(call_totals_create(&totals, &lab.source, has_times), 0);
    total = &totals->totals[query_source_number(&lab.source, 0, 0x401100, 2000)];
    CHECK_EQUAL(total->calls, 3);
    CHECK_EQUAL(total->total, has_times ? 160 : 0);
    CHECK_EQUAL(total->longest, has_times ? 100 : 0);
    total = &totals->totals[query_source_number(&lab.source, 0, 0x401000, 2000)];
    CHECK_EQUAL(total->calls, 1);
    CHECK_EQUAL(total->self, has_times ? 350 : 0);
    /* One of the two is within the other. */
    total = &totals->totals[query_source_number(&lab.source, 0, 0x401000, 6000)];
    CHECK_EQUAL(total->calls, 2);
    CHECK_EQUAL(total->total, has_times ? 100 : 0);
    CHECK_EQUAL(total->summed, has_times ? 100 : 0);
    CHECK_EQUAL(total->shortest, has_times ? 0 : UINT64_MAX);
    call_totals_destroy(totals);
    query_lab_deinit(&lab);
}

static void calls_and_times_are_summed_by_function(void)
{
    check_totals(true);
}

static void calls_alone_are_the_same(void)
{
    check_totals(false);
}

static void nothing_can_be_destroyed(void)
{
    call_totals_destroy(NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_and_times_are_summed_by_function),
    CHECK_CASE(calls_alone_are_the_same),
    CHECK_CASE(nothing_can_be_destroyed),
};

CHECK_MAIN(cases)
