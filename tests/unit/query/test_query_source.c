/* SPDX-License-Identifier: MIT */
#include "query/query_source.h"

#include "support/check.h"
#include "support/query_text.h"
#include "view/view_trace.h"

static struct trace_folder folder;
static struct view_trace trace;
static struct query_source source;

static void begin(void)
{
    trace_folder_init(&folder);
    query_text_put_hooked(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(query_source_init(&source, &trace), 0);
}

static void end(void)
{
    query_source_deinit(&source);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void a_function_is_what_was_there_at_the_time(void)
{
    uint32_t before, after;

    begin();
    before = query_source_number(&source, 0, 0x401000, 2000);
    after = query_source_number(&source, 0, 0x401000, 6000);
    CHECK(before != after);
    CHECK_EQUAL(query_source_number(&source, 0, 0x401000, 4999), before);
    CHECK_EQUAL(query_source_number(&source, 0, 0x401000, 5000), after);
    CHECK_TEXT(query_source_function(&source, before)->shown->name, "shop+0x0");
    CHECK_TEXT(query_source_function(&source, after)->module, "other");
    CHECK_EQUAL(query_source_function(&source, after)->module_bytes, 5);
    /* Of a file that is gone nobody knows lines. */
    CHECK(query_source_placed(&source, after)->file == NULL && query_source_placed(&source, after)->line == 0);
    CHECK(query_source_placed(&source, after)->is_placed && !query_source_function(&source, before)->is_placed);
    end();
}

static void where_nothing_was_mapped_there_is_a_name_still(void)
{
    const struct query_function *function;

    begin();
    function = query_source_function(&source, query_source_number(&source, 0, 0x999, 2000));
    CHECK_TEXT(function->shown->name, "0x999");
    CHECK(function->module == NULL);
    CHECK_EQUAL(query_source_number(&source, 0, 0x999, 6000), query_source_number(&source, 0, 0x999, 2000));
    CHECK_TEXT(query_source_function(&source, VIEW_NO_FUNCTION)->shown->name, "?");
    end();
}

static void pauses_end_with_the_next_change(void)
{
    uint64_t from, to;

    begin();
    query_module_pause(&trace.processes[0].modules, 2000, &from, &to);
    CHECK_EQUAL(from, 1000);
    CHECK_EQUAL(to, 5000);
    query_module_pause(&trace.processes[0].modules, 500, &from, &to);
    CHECK_EQUAL(from, 0);
    CHECK_EQUAL(to, 1000);
    query_module_pause(&trace.processes[0].modules, 5000, &from, &to);
    CHECK_EQUAL(from, 5000);
    CHECK_EQUAL(to, UINT64_MAX);
    end();
}

static void the_first_problem_is_kept(void)
{
    struct gait_error first = {.text = "first"}, second = {.text = "second"};

    begin();
    query_source_note(&source, 0, &second);
    CHECK_EQUAL(source.problem, 0);
    query_source_note(&source, -5, &first);
    query_source_note(&source, -6, &second);
    CHECK_EQUAL(source.problem, -5);
    CHECK_TEXT(source.why.text, "first");
    CHECK_EQUAL(query_source_span_ns(&source, 77), 77);
    CHECK(query_source_event_bytes(&source) > 10 * 16);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(a_function_is_what_was_there_at_the_time),
    CHECK_CASE(where_nothing_was_mapped_there_is_a_name_still),
    CHECK_CASE(pauses_end_with_the_next_change),
    CHECK_CASE(the_first_problem_is_kept),
};

CHECK_MAIN(cases)
