/* SPDX-License-Identifier: MIT */
/*
 * Nodes are an array, found by who calls whom; whether a function stands above already is looked for only when a node
 * is made. Invariant: a node that stands for another one above has no children.
 */
#include "view/call_graph.h"

#include "hosted/growing_array.h"
#include "view/call_tracker.h"

#include <errno.h>
#include <stdlib.h>

#define NODES_AT_FIRST 256u

int call_graph_init(struct call_graph *graph, uint32_t depth, size_t node_limit)
{
    int result;

    *graph = (struct call_graph){.depth = depth, .limit = node_limit, .capacity = NODES_AT_FIRST, .count = 1};
    graph->nodes = calloc(graph->capacity, sizeof(*graph->nodes));
    if (graph->nodes == NULL)
        return -ENOMEM;
    result = hash_map_init(&graph->children, NODES_AT_FIRST);
    if (result != 0) {
        free(graph->nodes);
        return result;
    }
    graph->nodes[CALL_GRAPH_ROOT] = (struct call_graph_node){.function = CALL_GRAPH_NONE,
                                                             .parent = CALL_GRAPH_NONE,
                                                             .first_child = CALL_GRAPH_NONE,
                                                             .next = CALL_GRAPH_NONE,
                                                             .again = CALL_GRAPH_NONE};
    return 0;
}

void call_graph_deinit(struct call_graph *graph)
{
    free(graph->nodes);
    hash_map_deinit(&graph->children);
}

static uint32_t find_above(const struct call_graph *graph, uint32_t node, uint32_t function)
{
    while (node != CALL_GRAPH_NONE && graph->nodes[node].function != function)
        node = graph->nodes[node].parent;
    return node;
}

static uint32_t add(struct call_graph *graph, uint32_t parent, uint32_t function, uint64_t key)
{
    uint32_t node = (uint32_t)graph->count;

    if (graph->count >= graph->limit || ARRAY_RESERVE(graph->nodes, graph->capacity, graph->count + 1) != 0 ||
        hash_map_set(&graph->children, key, node) != 0)
        return CALL_GRAPH_NONE;
    /* Nobody else looks. */
    hash_map_reclaim(&graph->children);
    graph->nodes[node] = (struct call_graph_node){
        .function = function,
        .parent = parent,
        .first_child = CALL_GRAPH_NONE,
        .next = graph->nodes[parent].first_child,
        .again = find_above(graph, parent, function),
        .level = graph->nodes[parent].level + 1,
    };
    graph->nodes[parent].first_child = node;
    graph->count++;
    return node;
}

static uint32_t call_graph_place(const struct call_graph *graph, uint32_t node)
{
    return node == CALL_GRAPH_NONE || graph->nodes[node].again == CALL_GRAPH_NONE ? node : graph->nodes[node].again;
}

uint32_t call_graph_enter(struct call_graph *graph, uint32_t caller, uint32_t function)
{
    uint32_t parent = call_graph_place(graph, caller), node;
    uint64_t key, found;

    if (parent == CALL_GRAPH_NONE)
        return CALL_GRAPH_NONE;
    if (graph->nodes[parent].level >= graph->depth) {
        graph->too_deep++;
        return CALL_GRAPH_NONE;
    }
    key = (uint64_t)parent << 32 | function;
    node = hash_map_lookup(&graph->children, key, &found) ? (uint32_t)found : add(graph, parent, function, key);
    if (node == CALL_GRAPH_NONE) {
        graph->left_out++;
        return node;
    }
    graph->nodes[node].open++;
    return node;
}

void call_graph_leave(struct call_graph *graph, uint32_t node, uint64_t ticks, uint64_t self_ticks, uint32_t flags)
{
    struct call_graph_node *left;

    if (node == CALL_GRAPH_NONE)
        return;
    left = &graph->nodes[node];
    left->calls += !(flags & CALL_RESUMED);
    left->flags |= flags;
    if (--left->open == 0)
        left->total += ticks;
    graph->nodes[call_graph_place(graph, node)].self += self_ticks;
}

bool call_graph_is_unknown(const struct call_graph_node *node)
{
    return node->flags & CALL_ENTRY_ONLY && node->total == 0;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* Those that took the same are in the order in which they were first called. */
static bool is_before(const struct call_graph *graph, uint32_t left, uint32_t right)
{
    uint64_t left_total = graph->nodes[left].total, right_total = graph->nodes[right].total;

    return left_total != right_total ? left_total > right_total : left < right;
}

/* Of two lists in order, one. */
static uint32_t merge(struct call_graph *graph, uint32_t left, uint32_t right)
{
    uint32_t first = CALL_GRAPH_NONE, *end = &first;

    while (left != CALL_GRAPH_NONE && right != CALL_GRAPH_NONE) {
        uint32_t *earlier = is_before(graph, left, right) ? &left : &right;

        *end = *earlier;
        end = &graph->nodes[*earlier].next;
        *earlier = *end;
    }
    *end = left != CALL_GRAPH_NONE ? left : right;
    return first;
}

/* The first `count` of a list, in order; what follows them is at *rest_out. */
static uint32_t sort_list(struct call_graph *graph, uint32_t first, size_t count, uint32_t *rest_out)
{
    uint32_t left, right;

    if (count == 1) {
        *rest_out = graph->nodes[first].next;
        graph->nodes[first].next = CALL_GRAPH_NONE;
        return first;
    }
    left = sort_list(graph, first, count / 2, &right);
    right = sort_list(graph, right, count - count / 2, rest_out);
    return merge(graph, left, right);
}

void call_graph_sort(struct call_graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        size_t count = 0;
        uint32_t rest;

        for (uint32_t child = graph->nodes[i].first_child; child != CALL_GRAPH_NONE; child = graph->nodes[child].next)
            count++;
        if (count > 1)
            graph->nodes[i].first_child = sort_list(graph, graph->nodes[i].first_child, count, &rest);
    }
}

uint64_t call_graph_children_total(const struct call_graph *graph, uint32_t node)
{
    uint64_t total = 0;

    for (uint32_t child = graph->nodes[node].first_child; child != CALL_GRAPH_NONE; child = graph->nodes[child].next)
        total += graph->nodes[child].total;
    return total;
}
