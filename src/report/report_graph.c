/* SPDX-License-Identifier: MIT */
#include "report/report_graph.h"

#include "hosted/json_writer.h"
#include "view/call_tracker.h"

void report_graph_init(struct report_graph *shown, struct view_functions *functions, double min_share)
{
    *shown = (struct report_graph){
        .functions = functions, .tick_ns = view_clock_tick_ns(&functions->trace->clock), .min_share = min_share};
}

double report_graph_share(const struct report_graph *shown, uint64_t ticks)
{
    return shown->whole == 0 ? 0 : (double)ticks / (double)shown->whole;
}

/* Where a function comes again is always shown: its time is another's. So is a guess, which is compared with nothing.
 */
bool report_graph_shows(const struct report_graph *shown, const struct call_graph_node *node)
{
    return node->again != CALL_GRAPH_NONE || node->flags & (CALL_GUESSED | CALL_ENTRY_ONLY) ||
           report_graph_share(shown, node->total) >= shown->min_share;
}

static uint64_t nanoseconds_of(const struct report_graph *shown, uint64_t ticks)
{
    return (uint64_t)((double)ticks * shown->tick_ns);
}

static void put_function(const struct report_graph *shown, struct json_writer *json, uint32_t number)
{
    const struct view_function *function = view_functions_at(shown->functions, number);

    json_writer_text(json, "function", function->name);
    json_writer_text(json, "module", function->module == NULL ? NULL : function->module->path);
}

static void put_times(const struct report_graph *shown, struct json_writer *json, const struct call_graph_node *node)
{
    if (call_graph_is_unknown(node)) {
        json_writer_null(json, "total_ns");
        json_writer_null(json, "self_ns");
        return;
    }
    json_writer_count(json, "total_ns", nanoseconds_of(shown, node->total));
    json_writer_count(json, "self_ns", nanoseconds_of(shown, node->self));
}

/* The nodes below, as a list; `key` is what the same below them is called. */
static void put_below(const struct report_graph *shown, struct json_writer *json, const struct call_graph *graph,
                      uint32_t which, const char *key)
{
    json_writer_open(json, key, '[');
    for (uint32_t child = graph->nodes[which].first_child; child != CALL_GRAPH_NONE; child = graph->nodes[child].next) {
        const struct call_graph_node *node = &graph->nodes[child];

        if (!report_graph_shows(shown, node))
            continue;
        if (json->has_members)
            json_writer_break(json, 0);
        json_writer_open(json, NULL, '{');
        put_function(shown, json, node->function);
        json_writer_count(json, "calls", node->calls);
        put_times(shown, json, node);
        json_writer_bool(json, "again", node->again != CALL_GRAPH_NONE);
        put_below(shown, json, graph, child, key);
        json_writer_close(json, '}');
    }
    json_writer_close(json, ']');
}

static void open_process(struct json_writer *json, const struct view_process *process)
{
    if (json->has_members)
        json_writer_break(json, 0);
    json_writer_open(json, NULL, '{');
    json_writer_count(json, "pid", process->pid);
    json_writer_count(json, "image", process->image);
    json_writer_text(json, "command", process->command);
}

void report_graph_put_process(struct report_graph *shown, struct json_writer *json, const struct view_process *process,
                              const struct call_graph *graph)
{
    shown->whole = call_graph_children_total(graph, CALL_GRAPH_ROOT);
    open_process(json, process);
    json_writer_count(json, "total_ns", nanoseconds_of(shown, shown->whole));
    put_below(shown, json, graph, CALL_GRAPH_ROOT, "callees");
    json_writer_close(json, '}');
}

void report_graph_put_focus(struct report_graph *shown, struct json_writer *json, const struct call_focus *focus)
{
    const struct call_graph_node *top = call_focus_top(&focus->callees);
    size_t process = view_functions_at(shown->functions, focus->function)->process;

    shown->whole = top->total;
    open_process(json, &shown->functions->trace->processes[process]);
    put_function(shown, json, focus->function);
    json_writer_count(json, "calls", focus->calls);
    put_times(shown, json, top);
    put_below(shown, json, &focus->callers, focus->callers.nodes[CALL_GRAPH_ROOT].first_child, "callers");
    put_below(shown, json, &focus->callees, focus->callees.nodes[CALL_GRAPH_ROOT].first_child, "callees");
    json_writer_close(json, '}');
}
