/* SPDX-License-Identifier: MIT */
#include "query/query_source.h"

#include "support/check.h"
#include "support/query_lab.h"

static struct query_lab lab;

static void a_function_is_what_was_there_at_the_time(void)
{
    uint32_t before, after;

    query_lab_init(&lab);
    before = query_source_number(&lab.source, 0, 0x401000, 2000);
    after = query_source_number(&lab.source, 0, 0x401000, 6000);
    CHECK(before != after);
    CHECK_EQUAL(query_source_number(&lab.source, 0, 0x401000, 4999), before);
    CHECK_EQUAL(query_source_number(&lab.source, 0, 0x401000, 5000), after);
    CHECK_TEXT(query_source_function(&lab.source, before)->shown->name, "shop+0x0");
    CHECK_TEXT(query_source_function(&lab.source, after)->module, "other");
    CHECK_EQUAL(query_source_function(&lab.source, after)->module_bytes, 5);
    /* Of a file that is gone nobody knows lines. */
    CHECK(query_source_placed(&lab.source, after)->file == NULL && query_source_placed(&lab.source, after)->line == 0);
    CHECK(query_source_placed(&lab.source, after)->is_placed && !query_source_function(&lab.source, before)->is_placed);
    query_lab_deinit(&lab);
}

static void where_nothing_was_mapped_there_is_a_name_still(void)
{
    const struct query_function *function;

    query_lab_init(&lab);
    function = query_source_function(&lab.source, query_source_number(&lab.source, 0, 0x999, 2000));
    CHECK_TEXT(function->shown->name, "0x999");
    CHECK(function->module == NULL);
    CHECK_EQUAL(query_source_number(&lab.source, 0, 0x999, 6000), query_source_number(&lab.source, 0, 0x999, 2000));
    CHECK_TEXT(query_source_function(&lab.source, VIEW_NO_FUNCTION)->shown->name, "?");
    query_lab_deinit(&lab);
}

static void pauses_end_with_the_next_change(void)
{
    uint64_t from, to;

    query_lab_init(&lab);
    query_module_pause(&lab.trace.processes[0].modules, 2000, &from, &to);
    CHECK_EQUAL(from, 1000);
    CHECK_EQUAL(to, 5000);
    query_module_pause(&lab.trace.processes[0].modules, 500, &from, &to);
    CHECK_EQUAL(from, 0);
    CHECK_EQUAL(to, 1000);
    query_module_pause(&lab.trace.processes[0].modules, 5000, &from, &to);
    CHECK_EQUAL(from, 5000);
    CHECK_EQUAL(to, UINT64_MAX);
    query_lab_deinit(&lab);
}

static void the_first_problem_is_kept(void)
{
    struct gait_error first = {.text = "first"}, second = {.text = "second"};

    query_lab_init(&lab);
    query_source_note(&lab.source, 0, &second);
    CHECK_EQUAL(lab.source.problem, 0);
    query_source_note(&lab.source, -5, &first);
    query_source_note(&lab.source, -6, &second);
    CHECK_EQUAL(lab.source.problem, -5);
    CHECK_TEXT(lab.source.why.text, "first");
    CHECK_EQUAL(query_source_span_ns(&lab.source, 77), 77);
    CHECK(query_source_event_bytes(&lab.source) > 10 * 16);
    query_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_function_is_what_was_there_at_the_time),
    CHECK_CASE(where_nothing_was_mapped_there_is_a_name_still),
    CHECK_CASE(pauses_end_with_the_next_change),
    CHECK_CASE(the_first_problem_is_kept),
};

CHECK_MAIN(cases)
