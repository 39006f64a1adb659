/* SPDX-License-Identifier: MIT */
/* Which nodes of call graphs are shown, their share of the whole, and graphs as JSON. One thread at a time. */
#ifndef GAIT_REPORT_REPORT_GRAPH_H
#define GAIT_REPORT_REPORT_GRAPH_H

#include "view/call_focus.h"
#include "view/view_functions.h"

#include <stdbool.h>

struct json_writer;

struct report_graph {
    struct view_functions *functions;
    double tick_ns;
    double min_share; /* of the whole: what has less is not shown */
    uint64_t whole;   /* ticks, that are 100 % */
};

void report_graph_init(struct report_graph *shown, struct view_functions *functions, double min_share);

double report_graph_share(const struct report_graph *shown, uint64_t ticks);
bool report_graph_shows(const struct report_graph *shown, const struct call_graph_node *node);

/* All paths of a process, and a function between its callers and what it calls: an object each. */
void report_graph_put_process(struct report_graph *shown, struct json_writer *json, const struct view_process *process,
                              const struct call_graph *graph);
void report_graph_put_focus(struct report_graph *shown, struct json_writer *json, const struct call_focus *focus);

#endif
