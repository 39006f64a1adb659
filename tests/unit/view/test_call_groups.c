/* SPDX-License-Identifier: MIT */
#include "view/call_groups.h"

#include "support/check.h"
#include "support/example_trace.h"

#include <unistd.h>

static struct example_trace example;
static struct call_groups groups;

/* The example with another process, 200, in which the same file is mapped elsewhere. */
static void put_other_process(void)
{
    struct trace_bytes modules = {.size_bytes = 0}, nothing = {.size_bytes = 0};
    struct trace_module module = {
        .change = TRACE_MODULE_LOADED, .time = 1000, .start = 0x501000, .end = 0x502000, .file_offset = 0x1000};

    trace_folder_make(&example.folder, "200");
    trace_bytes_put_module(&modules, &module, "/nowhere/example");
    trace_folder_put_stream(&example.folder,
                            &(struct trace_stream_plan){.name = "200/modules.gait",
                                                        .header = {.kind = TRACE_STREAM_MODULES, .pid = 200},
                                                        .bytes = &modules});
    trace_folder_put_stream(
        &example.folder,
        &(struct trace_stream_plan){
            .name = "200/200.1.index.gait",
            .header = {.kind = TRACE_STREAM_INDEX, .pid = 200, .tid = 200, .generation = 1, .space = 1, .events = 1},
            .bytes = &nothing});
}

static void begin(enum call_group_kind kind, const char *filter)
{
    example_trace_init(&example);
    put_other_process();
    example_trace_open_again(&example);
    CHECK_EQUAL(example.trace.thread_count, 3);
    CHECK_EQUAL(call_groups_init(&groups, &example.trace, kind, filter), 0);
}

static void end(void)
{
    call_groups_deinit(&groups);
    example_trace_deinit(&example);
}

static uint32_t find(size_t thread, uint64_t address, uint64_t time)
{
    struct call_group_answer answer;

    CHECK_EQUAL(call_groups_find(&groups, thread, address, time, &answer), 0);
    CHECK(answer.from <= time && time < answer.to);
    return answer.group;
}

static void a_function_is_one_in_all_processes(void)
{
    begin(CALL_GROUP_FUNCTION, NULL);
    CHECK_EQUAL(find(0, 0x401100, 2000), 0);
    CHECK_EQUAL(find(1, 0x401200, 2000), 1);
    CHECK_EQUAL(find(2, 0x501100, 2000), 0);
    CHECK_EQUAL(find(2, 0x501200, 2000), 1);
    CHECK_TEXT(call_groups_function(&groups, 0)->name, "example+0x1100");
    CHECK_EQUAL(groups.count, 2);
    end();
}

/* Nobody knows that it is the same. */
static void code_without_a_file_is_its_own_in_each_process(void)
{
    begin(CALL_GROUP_FUNCTION, NULL);
    CHECK_EQUAL(find(0, 0x900000, 2000), 0);
    CHECK_EQUAL(find(1, 0x900000, 2000), 0);
    CHECK_EQUAL(find(2, 0x900000, 2000), 1);
    end();
}

static void an_answer_says_how_long_it_is_right(void)
{
    struct call_group_answer answer;

    example_trace_init(&example);
    example_trace_put_other_file(&example);
    example_trace_open_again(&example);
    CHECK_EQUAL(call_groups_init(&groups, &example.trace, CALL_GROUP_FUNCTION, NULL), 0);
    CHECK_EQUAL(call_groups_find(&groups, 0, 0x401100, 2000, &answer), 0);
    CHECK_EQUAL(answer.from, 1000);
    CHECK_EQUAL(answer.to, EXAMPLE_TRACE_LATER);
    CHECK_EQUAL(answer.group, 0);
    CHECK_EQUAL(call_groups_find(&groups, 0, 0x401100, EXAMPLE_TRACE_LATER, &answer), 0);
    CHECK_EQUAL(answer.from, EXAMPLE_TRACE_LATER);
    CHECK_EQUAL(answer.to, UINT64_MAX);
    CHECK_EQUAL(answer.group, 1);
    /* Right before something is mapped there it is meant already, and the next time is asked for again. */
    CHECK_EQUAL(call_groups_find(&groups, 0, 0x401100, 998, &answer), 0);
    CHECK_EQUAL(answer.from, 998);
    CHECK_EQUAL(answer.to, 999);
    CHECK_EQUAL(answer.group, 0);
    end();
}

static void modules_and_threads_are_groups(void)
{
    begin(CALL_GROUP_MODULE, NULL);
    CHECK_EQUAL(find(0, 0x401100, 2000), 0);
    CHECK_EQUAL(find(0, 0x401200, 2000), 0);
    CHECK_EQUAL(find(2, 0x501200, 2000), 0);
    CHECK_EQUAL(find(0, 0x900000, 2000), 1);
    end();
    begin(CALL_GROUP_THREAD, NULL);
    CHECK_EQUAL(find(1, 0x401100, 2000), 1);
    CHECK_EQUAL(find(2, 0x501100, 2000), 2);
    CHECK(call_groups_function(&groups, 2) == NULL);
    CHECK_EQUAL(groups.count, 3);
    end();
}

static bool passes(const char *filter)
{
    bool is_in;

    begin(CALL_GROUP_FUNCTION, filter);
    is_in = find(0, 0x401100, 2000) != CALL_GROUP_NONE;
    end();
    return is_in;
}

static void filters_leave_functions_out(void)
{
    CHECK(passes("example+0x1100"));
    CHECK(passes("*1100"));
    CHECK(!passes("*1200"));
    CHECK(passes("exam*!*1100"));
    CHECK(passes("/nowhere/*!*"));
    CHECK(!passes("exam!*"));
    CHECK(!passes("exam*!*1200"));
}

/* Nothing in the example has any. */
static void without_line_information_the_source_is_not_known(void)
{
    begin(CALL_GROUP_LINE, NULL);
    CHECK_EQUAL(find(0, 0x401100, 2000), 0);
    CHECK_EQUAL(find(0, 0x401200, 2000), 0);
    CHECK(!call_groups_know_source(&groups));
    end();
}

static void paths_end_with_names(void)
{
    CHECK_TEXT(call_groups_base_name("/a/b.so"), "b.so");
    CHECK_TEXT(call_groups_base_name("b.so"), "b.so");
    CHECK_TEXT(call_groups_base_name("/"), "");
}

static const struct check_case cases[] = {
    CHECK_CASE(a_function_is_one_in_all_processes),
    CHECK_CASE(code_without_a_file_is_its_own_in_each_process),
    CHECK_CASE(an_answer_says_how_long_it_is_right),
    CHECK_CASE(modules_and_threads_are_groups),
    CHECK_CASE(filters_leave_functions_out),
    CHECK_CASE(without_line_information_the_source_is_not_known),
    CHECK_CASE(paths_end_with_names),
};

CHECK_MAIN(cases)
