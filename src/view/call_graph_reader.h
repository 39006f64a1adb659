/* SPDX-License-Identifier: MIT */
/* The calls of threads of one process, added up by their paths from where recording began. One thread at a time. */
#ifndef GAIT_VIEW_CALL_GRAPH_READER_H
#define GAIT_VIEW_CALL_GRAPH_READER_H

#include "gait/error.h"
#include "view/call_graph.h"
#include "view/view_functions.h"

/* What was not told. */
struct call_graph_missing {
    uint64_t gaps;       /* places where events are missing */
    uint64_t lost_bytes; /* of events */
};

/*
 * Adds the calls of a thread to a graph. 0, or it cannot be read, and err says why; what was read is in the graph.
 */
MUST_USE int call_graph_read(struct call_graph *graph, struct view_functions *functions, size_t thread,
                             struct call_graph_missing *missing, struct gait_error *err);

#endif
