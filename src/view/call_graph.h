/* SPDX-License-Identifier: MIT */
/*
 * Calls added up by their paths: a tree of functions, each under who called it, with how often and how long. A function
 * that is called again within itself, directly or not, is not put deeper and deeper: there is one node that says so,
 * and what it calls is counted where the function already stands. Memory grows with different paths, up to a limit of
 * nodes and of depth. One thread at a time.
 */
#ifndef GAIT_VIEW_CALL_GRAPH_H
#define GAIT_VIEW_CALL_GRAPH_H

#include "base/hash_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No node: of what is too deep, or for which there is no room. */
#define CALL_GRAPH_NONE UINT32_MAX

/* The node above all others. */
#define CALL_GRAPH_ROOT 0u

struct call_graph_node {
    uint32_t function; /* number */
    uint32_t parent;
    uint32_t first_child; /* CALL_GRAPH_NONE: none; and so on */
    uint32_t next;        /* of the same parent */
    uint32_t again;       /* the node above it where the function already stands; CALL_GRAPH_NONE: nowhere */
    uint32_t level;       /* of the root 0 */
    uint32_t flags;       /* of enum call_flag, of any of its calls */
    uint64_t calls;
    uint64_t total; /* ticks, of calls that are not within another of the same node */
    uint64_t self;  /* ticks, not spent in calls; where a function is called again it is the upper node's */
    uint32_t open;  /* calls that have not ended */
};

struct call_graph {
    struct call_graph_node *nodes;
    size_t count;
    size_t capacity;
    size_t limit;
    uint32_t depth;           /* how many levels there are at most, besides the root */
    struct hash_map children; /* parent and function -> node */
    uint64_t left_out;        /* calls that have no node for want of room */
    uint64_t too_deep;        /* calls that have none since they are below all levels */
};

/* A graph with a root, and of so many levels below it. -ENOMEM. */
MUST_USE int call_graph_init(struct call_graph *graph, uint32_t depth, size_t node_limit);
void call_graph_deinit(struct call_graph *graph);

/*
 * The node of a call from another one's; made if there is none. CALL_GRAPH_NONE: it is too deep, there is no room, or
 * the caller has none itself. Calls of one thread at a time are open.
 */
uint32_t call_graph_enter(struct call_graph *graph, uint32_t caller, uint32_t function);
/* The call ends: it took that long, and so much of it itself. CALL_GRAPH_NONE is fine. */
void call_graph_leave(struct call_graph *graph, uint32_t node, uint64_t ticks, uint64_t self_ticks, uint32_t flags);

/* Whether of none of its calls it is known how long it took. */
bool call_graph_is_unknown(const struct call_graph_node *node);

/* Puts the children of all nodes into the order of their total time, the longest first. */
void call_graph_sort(struct call_graph *graph);

/* The sum of total times of a node's children. */
uint64_t call_graph_children_total(const struct call_graph *graph, uint32_t node);

#endif
