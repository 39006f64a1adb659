/* SPDX-License-Identifier: MIT */
#include "report/report_graph.h"

#include "trace/json_text.h"

#include <inttypes.h>

void report_graph_init(struct report_graph *shown, struct view_functions *functions, double min_share)
{
    *shown = (struct report_graph){
        .functions = functions, .tick_ns = view_clock_tick_ns(&functions->trace->clock), .min_share = min_share};
}

double report_graph_share(const struct report_graph *shown, uint64_t ticks)
{
    return shown->whole == 0 ? 0 : (double)ticks / (double)shown->whole;
}

/* Where a function comes again is always shown: its time is another's. */
bool report_graph_shows(const struct report_graph *shown, const struct call_graph_node *node)
{
    return node->again != CALL_GRAPH_NONE || report_graph_share(shown, node->total) >= shown->min_share;
}

static uint64_t nanoseconds_of(const struct report_graph *shown, uint64_t ticks)
{
    return (uint64_t)((double)ticks * shown->tick_ns);
}

static void put_function(const struct report_graph *shown, FILE *stream, uint32_t number)
{
    const struct view_function *function = view_functions_at(shown->functions, number);

    fputs("\"function\":", stream);
    json_put_text(stream, function->name);
    fputs(",\"module\":", stream);
    if (function->module == NULL)
        fputs("null", stream);
    else
        json_put_text(stream, function->module->path);
}

/* The nodes below, as a list; `key` is what the same below them is called. */
static void put_below(const struct report_graph *shown, FILE *stream, const struct call_graph *graph, uint32_t which,
                      const char *key)
{
    const char *separator = "";

    fprintf(stream, ",\"%s\":[", key);
    for (uint32_t child = graph->nodes[which].first_child; child != CALL_GRAPH_NONE; child = graph->nodes[child].next) {
        const struct call_graph_node *node = &graph->nodes[child];

        if (!report_graph_shows(shown, node))
            continue;
        fprintf(stream, "%s{", separator);
        put_function(shown, stream, node->function);
        fprintf(stream, ",\"calls\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",\"self_ns\":%" PRIu64 ",\"again\":%s",
                node->calls, nanoseconds_of(shown, node->total), nanoseconds_of(shown, node->self),
                node->again != CALL_GRAPH_NONE ? "true" : "false");
        put_below(shown, stream, graph, child, key);
        fputc('}', stream);
        separator = ",\n";
    }
    fputc(']', stream);
}

static void put_process(FILE *stream, const struct view_process *process)
{
    fprintf(stream, "\"pid\":%" PRIu32 ",\"image\":%" PRIu32 ",\"command\":", process->pid, process->image);
    json_put_text(stream, process->command);
}

void report_graph_put_process(struct report_graph *shown, FILE *stream, const struct view_process *process,
                              const struct call_graph *graph)
{
    shown->whole = call_graph_children_total(graph, CALL_GRAPH_ROOT);
    fputc('{', stream);
    put_process(stream, process);
    fprintf(stream, ",\"total_ns\":%" PRIu64, nanoseconds_of(shown, shown->whole));
    put_below(shown, stream, graph, CALL_GRAPH_ROOT, "callees");
    fputc('}', stream);
}

void report_graph_put_focus(struct report_graph *shown, FILE *stream, const struct call_focus *focus)
{
    const struct call_graph_node *top = call_focus_top(&focus->callees);
    size_t process = view_functions_at(shown->functions, focus->function)->process;

    shown->whole = top->total;
    fputc('{', stream);
    put_process(stream, &shown->functions->trace->processes[process]);
    fputc(',', stream);
    put_function(shown, stream, focus->function);
    fprintf(stream, ",\"calls\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",\"self_ns\":%" PRIu64, focus->calls,
            nanoseconds_of(shown, top->total), nanoseconds_of(shown, top->self));
    put_below(shown, stream, &focus->callers, focus->callers.nodes[CALL_GRAPH_ROOT].first_child, "callers");
    put_below(shown, stream, &focus->callees, focus->callees.nodes[CALL_GRAPH_ROOT].first_child, "callees");
    fputc('}', stream);
}
