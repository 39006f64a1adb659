/* SPDX-License-Identifier: MIT */
#include "trace/system_call_sums.h"

#include "support/check.h"

static struct detail_system_call call_of(uint64_t number, uint64_t ticks, int64_t result)
{
    return (struct detail_system_call){
        .record = {.function = number, .time = 1000 + ticks}, .entered_time = 1000, .result = result};
}

static void add(struct system_call_sums *counts, uint64_t number, uint64_t ticks, int64_t result)
{
    struct detail_system_call call = call_of(number, ticks, result);

    system_call_sums_add(counts, &call);
}

static void calls_errors_and_times_are_added_up(void)
{
    struct system_call_sums counts = {.count = 0}, more = {.count = 0};
    struct detail_system_call never = call_of(231, 0, 0);

    add(&counts, 5, 10, 0);
    add(&counts, 3, 100, -4095);
    add(&counts, 5, 30, -2);
    add(&counts, 5, 20, -4096);
    never.flags = DETAIL_SYSTEM_CALL_NEVER_RETURNED;
    system_call_sums_add(&counts, &never);
    add(&more, 5, 5, 0);
    add(&more, 9, 1, 0);
    system_call_sums_merge(&counts, &more);
    system_call_sums_sort(&counts);
    CHECK_EQUAL(counts.count, 4);
    CHECK_EQUAL(counts.counts[0].number, 3);
    CHECK_EQUAL(counts.counts[0].errors, 1);
    CHECK_EQUAL(counts.counts[1].number, 5);
    CHECK_EQUAL(counts.counts[1].calls, 4);
    CHECK_EQUAL(counts.counts[1].errors, 1);
    CHECK_EQUAL(counts.counts[1].total, 65);
    CHECK_EQUAL(counts.counts[1].shortest, 5);
    CHECK_EQUAL(counts.counts[1].longest, 30);
    CHECK_EQUAL(counts.counts[2].number, 9);
    CHECK_EQUAL(counts.counts[3].number, 231);
    CHECK_EQUAL(counts.counts[3].returned, 0);
    system_call_sums_deinit(&counts);
    system_call_sums_deinit(&more);
}

static void what_came_back_after_all_is_counted_once(void)
{
    struct system_call_sums counts = {.count = 0};
    struct detail_system_call call = call_of(59, 7, -2), begun = call;

    begun.flags = DETAIL_SYSTEM_CALL_NEVER_RETURNED;
    system_call_sums_add(&counts, &begun);
    system_call_sums_take_back(&counts, 59);
    system_call_sums_take_back(&counts, 60);
    system_call_sums_add(&counts, &call);
    CHECK_EQUAL(counts.count, 1);
    CHECK_EQUAL(counts.counts[0].calls, 1);
    CHECK_EQUAL(counts.counts[0].errors, 1);
    system_call_sums_deinit(&counts);
}

/* Times of a record that is damaged may be anything. */
static void one_that_ended_before_it_began_has_no_time(void)
{
    struct system_call_sums counts = {.count = 0};
    struct detail_system_call call = call_of(UINT64_MAX, 0, 0);

    call.entered_time = UINT64_MAX;
    system_call_sums_add(&counts, &call);
    CHECK_EQUAL(counts.counts[0].calls, 1);
    CHECK_EQUAL(counts.counts[0].returned, 0);
    system_call_sums_deinit(&counts);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_errors_and_times_are_added_up),
    CHECK_CASE(what_came_back_after_all_is_counted_once),
    CHECK_CASE(one_that_ended_before_it_began_has_no_time),
};

CHECK_MAIN(cases)
