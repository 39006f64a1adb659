/* SPDX-License-Identifier: MIT */
#include "view/call_graph.h"

#include "support/check.h"
#include "view/call_tracker.h"

static struct call_graph graph;
static char text[1024];

static void put_below(uint32_t node)
{
    for (uint32_t child = graph.nodes[node].first_child; child != CALL_GRAPH_NONE; child = graph.nodes[child].next) {
        const struct call_graph_node *shown = &graph.nodes[child];
        char part[96];

        snprintf(part, sizeof(part), "%u%s:%" PRIu64 "/%" PRIu64 "/%" PRIu64 "(", shown->function,
                 shown->again == CALL_GRAPH_NONE ? "" : "again", shown->calls, shown->total, shown->self);
        strcat(text, part);
        put_below(child);
        strcat(text, ") ");
    }
}

/* "function:calls/total/self(below) " */
static const char *shape(void)
{
    text[0] = '\0';
    call_graph_sort(&graph);
    put_below(CALL_GRAPH_ROOT);
    return text;
}

static void calls_are_added_up_by_their_paths(void)
{
    CHECK_EQUAL(call_graph_init(&graph, 10, 100), 0);
    for (unsigned i = 0; i < 3; i++) {
        uint32_t outer = call_graph_enter(&graph, CALL_GRAPH_ROOT, 1), inner = call_graph_enter(&graph, outer, 2);

        call_graph_leave(&graph, inner, 10, 10, 0);
        inner = call_graph_enter(&graph, outer, 3);
        call_graph_leave(&graph, inner, 20, 20, i == 1 ? CALL_UNWOUND : 0);
        call_graph_leave(&graph, outer, 100, 70, 0);
    }
    call_graph_leave(&graph, call_graph_enter(&graph, CALL_GRAPH_ROOT, 2), 5, 5, 0);
    CHECK_TEXT(shape(), "1:3/300/210(3:3/60/60() 2:3/30/30() ) 2:1/5/5() ");
    CHECK_EQUAL(call_graph_children_total(&graph, CALL_GRAPH_ROOT), 305);
    CHECK_EQUAL(graph.nodes[3].flags, CALL_UNWOUND);
    call_graph_deinit(&graph);
}

/* 1 calls 2, which calls 1 again, which calls 2 again. */
static void a_function_within_itself_is_counted_where_it_stands(void)
{
    uint32_t nodes[4];

    CHECK_EQUAL(call_graph_init(&graph, 10, 100), 0);
    nodes[0] = call_graph_enter(&graph, CALL_GRAPH_ROOT, 1);
    nodes[1] = call_graph_enter(&graph, nodes[0], 2);
    nodes[2] = call_graph_enter(&graph, nodes[1], 1);
    nodes[3] = call_graph_enter(&graph, nodes[2], 2);
    CHECK_EQUAL(nodes[3], nodes[1]);
    call_graph_leave(&graph, nodes[3], 10, 10, 0);
    call_graph_leave(&graph, nodes[2], 20, 10, 0);
    call_graph_leave(&graph, nodes[1], 30, 10, 0);
    call_graph_leave(&graph, nodes[0], 40, 10, 0);
    CHECK_TEXT(shape(), "1:1/40/20(2:2/30/20(1again:1/20/0() ) ) ");
    CHECK_EQUAL(graph.count, 4);
    call_graph_deinit(&graph);
}

static void of_entries_alone_no_time_is_known(void)
{
    uint32_t node;

    CHECK_EQUAL(call_graph_init(&graph, 10, 100), 0);
    node = call_graph_enter(&graph, CALL_GRAPH_ROOT, 1);
    call_graph_leave(&graph, node, 0, 0, CALL_ENTRY_ONLY);
    CHECK(call_graph_is_unknown(&graph.nodes[node]));
    CHECK_EQUAL(call_graph_enter(&graph, CALL_GRAPH_ROOT, 1), node);
    call_graph_leave(&graph, node, 7, 7, 0);
    CHECK(!call_graph_is_unknown(&graph.nodes[node]));
    call_graph_deinit(&graph);
}

static void what_is_too_deep_has_no_node(void)
{
    uint32_t node = CALL_GRAPH_ROOT;

    CHECK_EQUAL(call_graph_init(&graph, 2, 100), 0);
    for (uint32_t function = 1; function <= 5; function++)
        node = call_graph_enter(&graph, node, function);
    CHECK_EQUAL(node, CALL_GRAPH_NONE);
    call_graph_leave(&graph, node, 1, 1, 0);
    CHECK_EQUAL(graph.count, 3);
    CHECK_EQUAL(graph.too_deep, 1);
    CHECK_EQUAL(graph.left_out, 0);
    call_graph_deinit(&graph);
}

static void paths_beyond_the_limit_are_counted(void)
{
    CHECK_EQUAL(call_graph_init(&graph, 10, 1000), 0);
    for (uint32_t function = 0; function < 2000; function++)
        call_graph_leave(&graph, call_graph_enter(&graph, CALL_GRAPH_ROOT, function), function, function, 0);
    CHECK_EQUAL(graph.count, 1000);
    CHECK_EQUAL(graph.left_out, 1001);
    call_graph_sort(&graph);
    CHECK_EQUAL(graph.nodes[graph.nodes[CALL_GRAPH_ROOT].first_child].total, 998);
    call_graph_deinit(&graph);
}

static void equal_times_keep_the_order_of_first_calls(void)
{
    CHECK_EQUAL(call_graph_init(&graph, 10, 1000), 0);
    for (uint32_t function = 0; function < 5; function++)
        call_graph_leave(&graph, call_graph_enter(&graph, CALL_GRAPH_ROOT, function), 1, 1, 0);
    CHECK_TEXT(shape(), "0:1/1/1() 1:1/1/1() 2:1/1/1() 3:1/1/1() 4:1/1/1() ");
    call_graph_deinit(&graph);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_are_added_up_by_their_paths),  CHECK_CASE(a_function_within_itself_is_counted_where_it_stands),
    CHECK_CASE(of_entries_alone_no_time_is_known),  CHECK_CASE(what_is_too_deep_has_no_node),
    CHECK_CASE(paths_beyond_the_limit_are_counted), CHECK_CASE(equal_times_keep_the_order_of_first_calls),
};

CHECK_MAIN(cases)
