/* SPDX-License-Identifier: MIT */
#include "view/call_graph_reader.h"

#include "support/check.h"
#include "support/hooked_calls.h"

static struct trace_folder folder;
static struct view_trace trace;
static struct view_functions functions;
static struct call_graph graph;

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    hooked_calls_put(&folder, 100, "<0@2000 <1@2010 >1@2040 <1@2050 >1@2060 >0@2100");
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(view_functions_init(&functions, &trace), 0);
    CHECK_EQUAL(call_graph_init(&graph, 10, 100), 0);
}

static void end(void)
{
    call_graph_deinit(&graph);
    view_functions_deinit(&functions);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void calls_of_threads_are_added_up(void)
{
    struct call_graph_missing missing = {.gaps = 0};
    const struct call_graph_node *outer, *inner;

    begin();
    CHECK_EQUAL(call_graph_read(&graph, &functions, 0, &missing, NULL), 0);
    outer = &graph.nodes[1];
    inner = &graph.nodes[2];
    CHECK_EQUAL(graph.count, 3);
    CHECK(outer->calls == 1 && outer->total == 100 && outer->self == 60 && outer->level == 1);
    CHECK(inner->calls == 2 && inner->total == 40 && inner->self == 40 && inner->parent == 1);
    CHECK_EQUAL(missing.gaps, 0);
    CHECK_EQUAL(call_graph_read(&graph, &functions, 0, &missing, NULL), 0);
    CHECK(graph.count == 3 && graph.nodes[2].calls == 4);
    end();
}

static void what_is_missing_is_counted(void)
{
    struct call_graph_missing missing = {.gaps = 0};

    begin();
    CHECK_EQUAL(call_graph_read(&graph, &functions, 1, &missing, NULL), 0);
    CHECK_EQUAL(missing.gaps, 4);
    CHECK_EQUAL(missing.lost_bytes, 288);
    CHECK_EQUAL(graph.nodes[1].calls, 5);
    end();
}

static void a_stream_that_is_none_is_explained(void)
{
    struct call_graph_missing missing = {.gaps = 0};
    struct gait_error err;

    begin();
    trace_folder_write(&folder, "100/100.1.index.gait", "?", 1);
    CHECK(call_graph_read(&graph, &functions, 0, &missing, &err) < 0);
    CHECK(strstr(err.text, "100.1.index.gait") != NULL);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_of_threads_are_added_up),
    CHECK_CASE(what_is_missing_is_counted),
    CHECK_CASE(a_stream_that_is_none_is_explained),
};

CHECK_MAIN(cases)
