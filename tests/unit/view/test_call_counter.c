/* SPDX-License-Identifier: MIT */
#include "view/call_counter.h"

#include "support/check.h"
#include "support/example_trace.h"

#include <unistd.h>

static struct example_trace example;
static struct call_groups groups;
static struct call_counter counter;

static void begin(enum call_group_kind kind, const char *filter)
{
    example_trace_init(&example);
    CHECK_EQUAL(call_groups_init(&groups, &example.trace, kind, filter), 0);
    CHECK_EQUAL(call_counter_init(&counter, &groups), 0);
}

static void end(void)
{
    call_counter_deinit(&counter);
    call_groups_deinit(&groups);
    example_trace_deinit(&example);
}

/* f calls g, which calls f: 100, 60 and 20 ticks. */
static void count_nested(size_t thread)
{
    struct view_call calls[] = {
        {.function = 0x401100, .depth = 0, .begin = 2000},
        {.function = 0x401200, .depth = 1, .begin = 2010},
        {.function = 0x401100, .depth = 2, .begin = 2020},
    };
    struct call_receiver receiver;

    CHECK_EQUAL(call_counter_receive(&counter, thread, &receiver), 0);
    for (size_t i = 0; i < 3; i++)
        CHECK_EQUAL(receiver.begin(receiver.context, &calls[i]), 0);
    calls[2].end = 2040;
    calls[1].end = 2070;
    calls[1].inner = 20;
    calls[0].end = 2100;
    calls[0].inner = 60;
    for (size_t i = 3; i-- > 0;)
        CHECK_EQUAL(receiver.end(receiver.context, &calls[i]), 0);
}

static void functions_that_call_each_other_count_once(void)
{
    const struct call_statistics *all;

    begin(CALL_GROUP_FUNCTION, NULL);
    count_nested(0);
    count_nested(1);
    all = counter.statistics.all;
    CHECK_EQUAL(counter.statistics.count, 2);
    CHECK_EQUAL(all[0].calls, 4);
    CHECK_EQUAL(all[0].total, 200);
    CHECK_EQUAL(all[0].self, 120);
    CHECK_EQUAL(all[1].calls, 2);
    CHECK_EQUAL(all[1].total, 120);
    CHECK_EQUAL(all[1].self, 80);
    CHECK_EQUAL(all[0].open, 0);
    end();
}

/* What a module's functions do for each other is inside of the first of them. */
static void a_module_took_as_long_as_its_outermost_calls(void)
{
    begin(CALL_GROUP_MODULE, NULL);
    count_nested(0);
    CHECK_EQUAL(counter.statistics.count, 1);
    CHECK_EQUAL(counter.statistics.all[0].calls, 3);
    CHECK_EQUAL(counter.statistics.all[0].total, 100);
    CHECK_EQUAL(counter.statistics.all[0].self, 100);
    end();
}

static void each_thread_has_its_own_numbers(void)
{
    begin(CALL_GROUP_THREAD, NULL);
    count_nested(1);
    count_nested(0);
    count_nested(1);
    CHECK_EQUAL(counter.statistics.all[0].total, 100);
    CHECK_EQUAL(counter.statistics.all[1].total, 200);
    CHECK_EQUAL(counter.statistics.all[1].calls, 6);
    end();
}

static void calls_that_a_filter_leaves_out_do_not_count(void)
{
    begin(CALL_GROUP_FUNCTION, "*1200");
    count_nested(0);
    CHECK_EQUAL(groups.count, 1);
    CHECK_EQUAL(counter.statistics.all[0].calls, 1);
    CHECK_EQUAL(counter.statistics.all[0].total, 60);
    CHECK_EQUAL(counter.statistics.all[0].self, 40);
    end();
}

static void calls_may_be_deep(void)
{
    struct call_receiver receiver;
    struct view_call call = {.function = 0x401100, .begin = 2000};

    begin(CALL_GROUP_FUNCTION, NULL);
    CHECK_EQUAL(call_counter_receive(&counter, 0, &receiver), 0);
    for (call.depth = 0; call.depth < 1000; call.depth++)
        CHECK_EQUAL(receiver.begin(receiver.context, &call), 0);
    for (call.end = 2001; call.depth-- > 0;)
        CHECK_EQUAL(receiver.end(receiver.context, &call), 0);
    CHECK_EQUAL(counter.statistics.all[0].calls, 1000);
    CHECK_EQUAL(counter.statistics.all[0].total, 1);
    end();
}

static void an_address_is_asked_for_again_when_another_file_is_there(void)
{
    struct view_call call = {.function = 0x401100};
    struct call_receiver receiver;

    example_trace_init(&example);
    example_trace_put_other_file(&example);
    example_trace_open_again(&example);
    CHECK_EQUAL(call_groups_init(&groups, &example.trace, CALL_GROUP_FUNCTION, NULL), 0);
    CHECK_EQUAL(call_counter_init(&counter, &groups), 0);
    CHECK_EQUAL(call_counter_receive(&counter, 0, &receiver), 0);
    for (uint64_t i = 0; i < 6; i++) {
        call.begin = i % 2 == 0 ? 2000 : EXAMPLE_TRACE_LATER;
        call.end = call.begin + 1;
        CHECK_EQUAL(receiver.begin(receiver.context, &call), 0);
        CHECK_EQUAL(receiver.end(receiver.context, &call), 0);
    }
    CHECK_EQUAL(groups.count, 2);
    CHECK_EQUAL(counter.statistics.all[0].calls, 3);
    CHECK_EQUAL(counter.statistics.all[1].calls, 3);
    end();
}

/* The same address in another process is another function, and the first one is known again afterwards. */
static void each_process_has_its_own_addresses(void)
{
    struct view_call call = {.function = 0x901100, .begin = 2000, .end = 2010};
    struct trace_bytes nothing = {.size_bytes = 0};
    struct call_receiver receiver;

    example_trace_init(&example);
    trace_folder_make(&example.folder, "200");
    trace_folder_put_stream(
        &example.folder,
        &(struct trace_stream_plan){
            .name = "200/200.1.index.gait",
            .header = {.kind = TRACE_STREAM_INDEX, .pid = 200, .tid = 200, .generation = 1, .space = 1, .events = 1},
            .bytes = &nothing});
    example_trace_open_again(&example);
    CHECK_EQUAL(call_groups_init(&groups, &example.trace, CALL_GROUP_FUNCTION, NULL), 0);
    CHECK_EQUAL(call_counter_init(&counter, &groups), 0);
    for (size_t i = 0; i < 6; i++) {
        CHECK_EQUAL(call_counter_receive(&counter, i % 3, &receiver), 0);
        CHECK_EQUAL(receiver.begin(receiver.context, &call), 0);
        CHECK_EQUAL(receiver.end(receiver.context, &call), 0);
    }
    CHECK_EQUAL(groups.count, 2);
    CHECK_EQUAL(counter.statistics.all[0].calls, 4);
    CHECK_EQUAL(counter.statistics.all[1].calls, 2);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_that_call_each_other_count_once),
    CHECK_CASE(a_module_took_as_long_as_its_outermost_calls),
    CHECK_CASE(each_thread_has_its_own_numbers),
    CHECK_CASE(calls_that_a_filter_leaves_out_do_not_count),
    CHECK_CASE(calls_may_be_deep),
    CHECK_CASE(each_process_has_its_own_addresses),
    CHECK_CASE(an_address_is_asked_for_again_when_another_file_is_there),
};

CHECK_MAIN(cases)
