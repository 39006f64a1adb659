/* SPDX-License-Identifier: MIT */
#include "view/call_counter.h"

#include "support/check.h"
#include "support/trace_folder.h"

#include <unistd.h>

static struct trace_folder folder;
static struct view_trace trace;
static struct call_groups groups;
static struct call_counter counter;

static void begin(enum call_group_kind kind, const char *filter)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(call_groups_init(&groups, &trace, kind, filter), 0);
    CHECK_EQUAL(call_counter_init(&counter, &groups), 0);
}

static void end(void)
{
    call_counter_deinit(&counter);
    call_groups_deinit(&groups);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
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

#define LATER 60000000u

/* The example, in which another file is mapped in the place of the first later. */
static void put_other_file(void)
{
    struct trace_module module = {
        .change = TRACE_MODULE_LOADED, .time = 1000, .start = 0x401000, .end = 0x402000, .file_offset = 0x1000};
    struct trace_bytes modules = {.size_bytes = 0};

    trace_bytes_put_module(&modules, &module, "/nowhere/example");
    module.time = LATER;
    module.change = TRACE_MODULE_UNLOADED;
    trace_bytes_put_module(&modules, &module, "/nowhere/example");
    module.change = TRACE_MODULE_LOADED;
    trace_bytes_put_module(&modules, &module, "/nowhere/other");
    CHECK_EQUAL(unlinkat(folder.fd, "100/modules.gait", 0), 0);
    trace_folder_put_stream(&folder, &(struct trace_stream_plan){.name = "100/modules.gait",
                                                                 .header = {.kind = TRACE_STREAM_MODULES, .pid = 100},
                                                                 .bytes = &modules});
}

static void an_address_is_asked_for_again_when_another_file_is_there(void)
{
    struct view_call call = {.function = 0x401100};
    struct call_receiver receiver;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    put_other_file();
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(call_groups_init(&groups, &trace, CALL_GROUP_FUNCTION, NULL), 0);
    CHECK_EQUAL(call_counter_init(&counter, &groups), 0);
    CHECK_EQUAL(call_counter_receive(&counter, 0, &receiver), 0);
    for (uint64_t i = 0; i < 6; i++) {
        call.begin = i % 2 == 0 ? 2000 : LATER;
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

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    trace_folder_make(&folder, "200");
    trace_folder_put_stream(
        &folder,
        &(struct trace_stream_plan){
            .name = "200/200.1.index.gait",
            .header = {.kind = TRACE_STREAM_INDEX, .pid = 200, .tid = 200, .generation = 1, .space = 1, .events = 1},
            .bytes = &nothing});
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(call_groups_init(&groups, &trace, CALL_GROUP_FUNCTION, NULL), 0);
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
