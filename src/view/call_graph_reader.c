/* SPDX-License-Identifier: MIT */
#include "view/call_graph_reader.h"

#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "view/call_reader.h"

#include <errno.h>
#include <stdlib.h>

struct graph_reading {
    struct call_graph *graph;
    struct view_functions *functions;
    size_t process;
    struct call_graph_missing *missing;
    uint32_t *nodes; /* of the calls that are open */
    size_t capacity;
};

static int take_begin(void *context, const struct view_call *call)
{
    struct graph_reading *reading = context;
    uint32_t function = view_functions_number(reading->functions, reading->process, call->function, call->begin);

    if (function == VIEW_NO_FUNCTION || ARRAY_RESERVE(reading->nodes, reading->capacity, (size_t)call->depth + 1) != 0)
        return -ENOMEM;
    reading->nodes[call->depth] = call_graph_enter(
        reading->graph, call->depth == 0 ? CALL_GRAPH_ROOT : reading->nodes[call->depth - 1], function);
    return 0;
}

static int take_end(void *context, const struct view_call *call)
{
    struct graph_reading *reading = context;
    uint64_t ticks = view_call_part_ticks(call);

    call_graph_leave(reading->graph, reading->nodes[call->depth], ticks, ticks - call->inner, call->flags);
    return 0;
}

static int take_gap(void *context, uint64_t time, uint64_t lost_bytes)
{
    struct graph_reading *reading = context;

    (void)time;
    reading->missing->gaps++;
    reading->missing->lost_bytes += lost_bytes;
    return 0;
}

int call_graph_read(struct call_graph *graph, struct view_functions *functions, size_t thread,
                    struct call_graph_missing *missing, struct gait_error *err)
{
    struct graph_reading reading = {.graph = graph,
                                    .functions = functions,
                                    .process = functions->trace->threads[thread].process,
                                    .missing = missing};
    const struct call_receiver receiver = {take_begin, take_end, take_gap, &reading, NULL};
    int result = call_reader_read(functions->trace, thread, &receiver, err);

    free(reading.nodes);
    return result == -ENOMEM ? error_set(err, ENOMEM, "cannot add up the calls: there is no memory") : result;
}
