/* SPDX-License-Identifier: MIT */
#include "view/call_statistics.h"

#include "support/check.h"

static void count(struct call_statistics *statistics, uint64_t took, uint64_t inner, uint32_t flags)
{
    struct view_call call = {.begin = 1000, .end = 1000 + took, .inner = inner, .flags = flags};

    call_statistics_begin(statistics, &(struct view_call){.flags = 0});
    CHECK_EQUAL(call_statistics_end(statistics, &call), 0);
}

static void calls_are_summed_up(void)
{
    struct call_statistics statistics = {.calls = 0};

    count(&statistics, 20, 5, 0);
    count(&statistics, 10, 0, CALL_UNWOUND);
    count(&statistics, 30, 30, CALL_GUESSED | CALL_CUT);
    CHECK_EQUAL(statistics.calls, 3);
    CHECK_EQUAL(statistics.total, 60);
    CHECK_EQUAL(statistics.self, 25);
    CHECK_EQUAL(statistics.shortest, 10);
    CHECK_EQUAL(statistics.longest, 30);
    CHECK_EQUAL(statistics.guessed, 1);
    CHECK_EQUAL(statistics.cut, 1);
    CHECK_EQUAL(statistics.unwound, 1);
    CHECK_EQUAL(statistics.no_return, 0);
    CHECK(call_statistics_average(&statistics) == 20);
    CHECK_EQUAL(call_statistics_percentile(&statistics, 50), 20);
    CHECK_EQUAL(call_statistics_percentile(&statistics, 99), 30);
    call_statistics_deinit(&statistics);
}

/* A function that calls itself took as long as the outermost call; each call has its own time nevertheless. */
static void what_is_inside_of_the_same_counts_once(void)
{
    struct call_statistics statistics = {.calls = 0};
    struct view_call inner = {.begin = 10, .end = 40}, outer = {.begin = 0, .end = 100, .inner = 30};

    call_statistics_begin(&statistics, &(struct view_call){.flags = 0});
    call_statistics_begin(&statistics, &(struct view_call){.flags = 0});
    CHECK_EQUAL(call_statistics_end(&statistics, &inner), 0);
    CHECK_EQUAL(call_statistics_end(&statistics, &outer), 0);
    CHECK_EQUAL(statistics.total, 100);
    CHECK_EQUAL(statistics.self, 100);
    CHECK_EQUAL(statistics.sum, 130);
    CHECK(call_statistics_average(&statistics) == 65);
    CHECK_EQUAL(statistics.shortest, 30);
    call_statistics_deinit(&statistics);
}

static void a_percentile_is_a_time_that_was_possible(void)
{
    struct call_statistics statistics = {.calls = 0};

    count(&statistics, 1000000, 0, 0);
    CHECK_EQUAL(call_statistics_percentile(&statistics, 50), 1000000);
    CHECK_EQUAL(call_statistics_percentile(&statistics, 99), 1000000);
    call_statistics_deinit(&statistics);
}

static void nothing_is_all_zeroes(void)
{
    struct call_statistics statistics = {.calls = 0}, other = {.calls = 0};

    CHECK(call_statistics_average(&statistics) == 0);
    CHECK_EQUAL(call_statistics_percentile(&statistics, 99), 0);
    count(&other, 7, 0, 0);
    CHECK_EQUAL(call_statistics_merge(&other, &statistics), 0);
    CHECK_EQUAL(other.shortest, 7);
    CHECK_EQUAL(call_statistics_merge(&statistics, &other), 0);
    CHECK_EQUAL(statistics.shortest, 7);
    call_statistics_deinit(&statistics);
    call_statistics_deinit(&other);
}

static void tables_are_added_up_by_number(void)
{
    struct call_statistics_table table = {.count = 0}, other = {.count = 0};

    count(call_statistics_table_obtain(&table, 2), 5, 0, 0);
    count(call_statistics_table_obtain(&other, 2), 3, 0, 0);
    count(call_statistics_table_obtain(&other, 1000), 4, 0, CALL_NO_RETURN);
    CHECK_EQUAL(table.count, 3);
    CHECK_EQUAL(call_statistics_table_merge(&table, &other), 0);
    CHECK_EQUAL(table.count, 1001);
    CHECK_EQUAL(table.all[2].calls, 2);
    CHECK_EQUAL(table.all[2].shortest, 3);
    CHECK_EQUAL(table.all[2].total, 8);
    CHECK_EQUAL(table.all[1000].no_return, 1);
    CHECK_EQUAL(table.all[999].calls, 0);
    call_statistics_table_deinit(&table);
    call_statistics_table_deinit(&other);
}

/* All its parts together are one call, as long as they took together. */
static void a_call_that_was_suspended_counts_once(void)
{
    struct call_statistics statistics = {.calls = 0};
    const struct view_call first = {.begin = 10, .end = 14, .flags = CALL_SUSPENDED};
    const struct view_call last = {.begin = 50, .end = 51, .earlier = 4, .flags = CALL_RESUMED};
    const struct view_call other = {.begin = 60, .end = 66, .flags = CALL_SUSPENDED};

    call_statistics_begin(&statistics, &first);
    CHECK_EQUAL(call_statistics_end(&statistics, &first), 0);
    call_statistics_begin(&statistics, &last);
    CHECK_EQUAL(call_statistics_end(&statistics, &last), 0);
    CHECK_EQUAL(statistics.calls, 1);
    CHECK_EQUAL(statistics.sum, 5);
    CHECK_EQUAL(statistics.shortest, 5);
    CHECK_EQUAL(statistics.longest, 5);
    CHECK_EQUAL(statistics.suspended, 1);
    call_statistics_begin(&statistics, &other);
    CHECK_EQUAL(call_statistics_end(&statistics, &other), 0);
    CHECK_EQUAL(statistics.longest, 5);
    CHECK_EQUAL(call_statistics_end_suspended(&statistics, &other), 0);
    CHECK_EQUAL(statistics.calls, 2);
    CHECK_EQUAL(statistics.longest, 6);
    CHECK_EQUAL(statistics.total, 11);
    call_statistics_deinit(&statistics);
}

/* They count, and are in no time. */
static void calls_without_a_duration_are_in_no_time(void)
{
    struct call_statistics statistics = {.calls = 0}, other = {.calls = 0};

    count(&statistics, 0, 0, CALL_ENTRY_ONLY);
    CHECK(!call_statistics_have_times(&statistics));
    CHECK(call_statistics_average(&statistics) == 0);
    count(&other, 40, 0, 0);
    count(&other, 0, 0, CALL_ENTRY_ONLY);
    CHECK(call_statistics_have_times(&other));
    CHECK_EQUAL(call_statistics_merge(&statistics, &other), 0);
    CHECK_EQUAL(statistics.calls, 3);
    CHECK_EQUAL(statistics.entry_only, 2);
    CHECK_EQUAL(statistics.shortest, 40);
    CHECK_EQUAL(call_statistics_percentile(&statistics, 1), 40);
    CHECK(call_statistics_average(&statistics) == 40);
    call_statistics_deinit(&statistics);
    call_statistics_deinit(&other);
}

/* It is one of the process that forked within it; the child's share is time, and no call that took so long. */
static void a_call_that_began_in_the_parent_is_no_call_of_the_child(void)
{
    struct call_statistics statistics = {.calls = 0};
    const struct view_call inherited = {.begin = 10, .end = 14, .inner = 1, .flags = CALL_RESUMED};

    count(&statistics, 100, 0, 0);
    call_statistics_begin(&statistics, &inherited);
    CHECK_EQUAL(call_statistics_end(&statistics, &inherited), 0);
    CHECK_EQUAL(statistics.calls, 1);
    CHECK_EQUAL(statistics.shortest, 100);
    CHECK_EQUAL(statistics.total, 104);
    CHECK_EQUAL(statistics.self, 103);
    CHECK_EQUAL(statistics.suspended, 0);
    call_statistics_deinit(&statistics);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_are_summed_up),
    CHECK_CASE(what_is_inside_of_the_same_counts_once),
    CHECK_CASE(a_percentile_is_a_time_that_was_possible),
    CHECK_CASE(nothing_is_all_zeroes),
    CHECK_CASE(tables_are_added_up_by_number),
    CHECK_CASE(a_call_that_was_suspended_counts_once),
    CHECK_CASE(calls_without_a_duration_are_in_no_time),
    CHECK_CASE(a_call_that_began_in_the_parent_is_no_call_of_the_child),
};

CHECK_MAIN(cases)
