/* SPDX-License-Identifier: MIT */
#include "trace/hook_times.h"

#include "support/check.h"
#include "trace/call_counts.h"

static struct module list[] = {{.start = 0x1000, .end = 0x9000, .loaded = 0, .unloaded = UINT64_MAX, .path = "a"}};
static const struct modules modules = {.modules = list, .count = 1};
static struct call_counts counts;
static struct hook_times times;

static void begin(void)
{
    CHECK_EQUAL(call_counts_init(&counts, &modules), 0);
    hook_times_init(&times, &counts);
}

static void end(void)
{
    hook_times_deinit(&times);
    call_counts_deinit(&counts);
}

static void take(uint32_t kind, uint64_t function, int32_t depth, uint64_t time)
{
    CHECK_EQUAL(
        hook_times_take(&times, &(struct gait_event){.kind = kind, .depth = depth, .location = function, .time = time}),
        0);
}

static void enter(uint64_t function, int32_t depth, uint64_t time)
{
    take(GAIT_EVENT_ENTER, function, depth, time);
}

static void leave(uint64_t function, int32_t depth, uint64_t time)
{
    take(GAIT_EVENT_LEAVE, function, depth, time);
}

static const struct call_count *count_of(uint64_t function)
{
    size_t index;

    CHECK_EQUAL(call_counts_find(&counts, function, 1, 1, &index), 0);
    return &counts.counts[index];
}

static void check_times(uint64_t function, uint64_t calls, uint64_t total, uint64_t self)
{
    CHECK_EQUAL(count_of(function)->calls, calls);
    CHECK_EQUAL(count_of(function)->total_time, total);
    CHECK_EQUAL(count_of(function)->self_time, self);
}

static void time_in_other_functions_is_not_their_callers(void)
{
    begin();
    enter(0x1000, 0, 100);
    enter(0x2000, 1, 110);
    leave(0x2000, 1, 130);
    enter(0x2000, 1, 140);
    enter(0x3000, 2, 150);
    leave(0x3000, 2, 155);
    leave(0x2000, 1, 160);
    leave(0x1000, 0, 200);
    check_times(0x1000, 1, 100, 60);
    check_times(0x2000, 2, 40, 35);
    check_times(0x3000, 1, 5, 5);
    CHECK_EQUAL(count_of(0x2000)->longest_time, 20);
    CHECK_EQUAL(count_of(0x2000)->ended, 2);
    end();
}

static void recursion_counts_once(void)
{
    begin();
    enter(0x1000, 0, 100);
    enter(0x2000, 1, 110);
    enter(0x1000, 2, 120);
    leave(0x1000, 2, 130);
    leave(0x2000, 1, 140);
    leave(0x1000, 0, 150);
    check_times(0x1000, 2, 50, 30);
    check_times(0x2000, 1, 30, 20);
    end();
}

static void calls_that_never_end_last_until_the_thread_does(void)
{
    begin();
    enter(0x1000, 0, 100);
    enter(0x2000, 1, 110);
    leave(0x2000, 1, 120);
    hook_times_end_thread(&times);
    check_times(0x1000, 1, 20, 10);
    enter(0x3000, 5, 1000);
    leave(0x3000, 5, 1001);
    check_times(0x1000, 1, 20, 10);
    check_times(0x3000, 1, 1, 1);
    end();
}

static void nothing_is_made_of_ends_that_were_not_told(void)
{
    begin();
    leave(0x1000, 3, 90);
    enter(0x1000, 3, 100);
    enter(0x1000, 3, 110);
    leave(0x1000, 3, 115);
    enter(0x2000, 3, 120);
    hook_times_forget(&times);
    leave(0x2000, 3, 900);
    enter(0x4000, 3, 910);
    leave(0x5000, 3, 920);
    leave(0x4000, 3, 930);
    check_times(0x1000, 2, 5, 5);
    CHECK_EQUAL(count_of(0x1000)->ended, 1);
    check_times(0x2000, 1, 0, 0);
    check_times(0x4000, 1, 0, 0);
    CHECK_EQUAL(count_of(0x1000)->open_count, 0);
    CHECK_EQUAL(count_of(0x2000)->open_count, 0);
    end();
}

static void deep_recursion_is_fine(void)
{
    begin();
    for (int32_t i = 0; i < 100000; i++)
        enter(0x1000, i, (uint64_t)i);
    for (int32_t i = 100000; i-- > 0;)
        leave(0x1000, i, 200000 - (uint64_t)i);
    check_times(0x1000, 100000, 200000, 200000);
    end();
}

static void other_events_are_passed_over(void)
{
    begin();
    take(GAIT_EVENT_CALL, 0x1000, 0, 10);
    CHECK_EQUAL(counts.count, 0);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(time_in_other_functions_is_not_their_callers),
    CHECK_CASE(recursion_counts_once),
    CHECK_CASE(calls_that_never_end_last_until_the_thread_does),
    CHECK_CASE(nothing_is_made_of_ends_that_were_not_told),
    CHECK_CASE(deep_recursion_is_fine),
    CHECK_CASE(other_events_are_passed_over),
};

CHECK_MAIN(cases)
