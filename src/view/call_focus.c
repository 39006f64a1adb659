/* SPDX-License-Identifier: MIT */
/*
 * Below an outermost call of such a function, everything goes into the graph of its callees; when it ends, who called
 * it is still open, and is added to the graph of callers from the inside out.
 */
#include "view/call_focus.h"

#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "view/call_reader.h"

#include <errno.h>
#include <stdlib.h>

#define NODES_MAX 32768u

struct focus_reading {
    struct call_focuses *focuses;
    size_t process;
    struct call_graph_missing *missing;
    uint32_t *functions; /* of the calls that are open */
    size_t capacity;
};

void call_focuses_init(struct call_focuses *focuses, struct function_choice *choice, uint32_t depth)
{
    *focuses = (struct call_focuses){.choice = choice, .depth = depth};
}

void call_focuses_deinit(struct call_focuses *focuses)
{
    for (size_t i = 0; i < focuses->count; i++) {
        call_graph_deinit(&focuses->focuses[i].callers);
        call_graph_deinit(&focuses->focuses[i].callees);
        free(focuses->focuses[i].nodes);
    }
    focuses->count = 0;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* NULL: there are too many, or there is no memory. */
static struct call_focus *add(struct call_focuses *focuses, uint32_t function)
{
    struct call_focus *focus = &focuses->focuses[focuses->count];

    if (focuses->count == CALL_FOCUS_MAX)
        return NULL;
    *focus = (struct call_focus){.function = function};
    /* The function itself is a level, too. */
    if (call_graph_init(&focus->callers, focuses->depth + 1, NODES_MAX) != 0)
        return NULL;
    if (call_graph_init(&focus->callees, focuses->depth + 1, NODES_MAX) != 0) {
        call_graph_deinit(&focus->callers);
        return NULL;
    }
    focuses->count++;
    return focus;
}

static struct call_focus *find(struct call_focuses *focuses, uint32_t function)
{
    for (size_t i = 0; i < focuses->count; i++)
        if (focuses->focuses[i].function == function)
            return &focuses->focuses[i];
    return NULL;
}

/* NULL: it is not asked for. */
static struct call_focus *focus_of(struct call_focuses *focuses, uint32_t function)
{
    struct call_focus *focus;

    if (!function_choice_has(focuses->choice, function))
        return NULL;
    focus = find(focuses, function);
    return focus != NULL ? focus : add(focuses, function);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* A call within the outermost one of the function, or that itself. */
static int begin_within(struct call_focus *focus, uint32_t depth, uint32_t function)
{
    uint32_t at = depth - focus->base;

    if (ARRAY_RESERVE(focus->nodes, focus->capacity, (size_t)at + 1) != 0)
        return -ENOMEM;
    focus->nodes[at] = call_graph_enter(&focus->callees, at == 0 ? CALL_GRAPH_ROOT : focus->nodes[at - 1], function);
    return 0;
}

static int take_begin(void *context, const struct view_call *call)
{
    struct focus_reading *reading = context;
    struct call_focuses *focuses = reading->focuses;
    uint32_t function =
        view_functions_number(focuses->choice->functions, reading->process, call->function, call->begin);
    struct call_focus *focus;

    if (function == VIEW_NO_FUNCTION ||
        ARRAY_RESERVE(reading->functions, reading->capacity, (size_t)call->depth + 1) != 0)
        return -ENOMEM;
    reading->functions[call->depth] = function;
    focus = focus_of(focuses, function);
    if (focus != NULL && !focus->is_open) {
        focus->is_open = true;
        focus->base = call->depth;
        focuses->open[focuses->open_count++] = (uint32_t)(focus - focuses->focuses);
    }
    for (size_t i = 0; i < focuses->open_count; i++)
        if (begin_within(&focuses->focuses[focuses->open[i]], call->depth, function) != 0)
            return -ENOMEM;
    return 0;
}

/* From the function outwards, up to where a function comes again. */
static void add_callers(struct call_focus *focus, const uint32_t *functions, const struct view_call *call)
{
    /* What a call within itself took is part of what the outermost one did. */
    uint64_t ticks = call->depth == focus->base ? view_call_part_ticks(call) : 0;
    uint32_t flags = call->flags & CALL_ENTRY_ONLY;
    uint32_t node = CALL_GRAPH_ROOT;

    for (uint32_t i = call->depth + 1; i-- > 0;) {
        node = call_graph_enter(&focus->callers, node, functions[i]);
        call_graph_leave(&focus->callers, node, ticks, 0, flags);
        if (node == CALL_GRAPH_NONE || focus->callers.nodes[node].again != CALL_GRAPH_NONE)
            return;
    }
}

static void end_within(struct call_focuses *focuses, const struct view_call *call)
{
    uint64_t ticks = view_call_part_ticks(call);

    for (size_t i = 0; i < focuses->open_count; i++) {
        struct call_focus *focus = &focuses->focuses[focuses->open[i]];

        call_graph_leave(&focus->callees, focus->nodes[call->depth - focus->base], ticks, ticks - call->inner,
                         call->flags);
    }
}

static int take_end(void *context, const struct view_call *call)
{
    struct focus_reading *reading = context;
    struct call_focuses *focuses = reading->focuses;
    struct call_focus *focus = find(focuses, reading->functions[call->depth]);

    end_within(focuses, call);
    if (focus == NULL)
        return 0;
    focus->calls += !(call->flags & CALL_RESUMED);
    add_callers(focus, reading->functions, call);
    if (focus->is_open && call->depth == focus->base) {
        focus->is_open = false;
        focuses->open_count--;
    }
    return 0;
}

static int take_gap(void *context, uint64_t time, uint64_t lost_bytes)
{
    struct focus_reading *reading = context;

    (void)time;
    reading->missing->gaps++;
    reading->missing->lost_bytes += lost_bytes;
    return 0;
}

int call_focuses_read(struct call_focuses *focuses, size_t thread, struct call_graph_missing *missing,
                      struct gait_error *err)
{
    const struct view_trace *trace = focuses->choice->functions->trace;
    struct focus_reading reading = {.focuses = focuses, .process = trace->threads[thread].process, .missing = missing};
    const struct call_receiver receiver = {take_begin, take_end, take_gap, &reading, NULL};
    int result = call_reader_read(trace, thread, &receiver, err);

    free(reading.functions);
    /* Where reading ended early, some are. */
    for (size_t i = 0; i < focuses->open_count; i++)
        focuses->focuses[focuses->open[i]].is_open = false;
    focuses->open_count = 0;
    return result == -ENOMEM ? error_set(err, ENOMEM, "cannot add up the calls: there is no memory") : result;
}

/* ---- what came of it --------------------------------------------------------------------------------------------- */

const struct call_graph_node *call_focus_top(const struct call_graph *graph)
{
    uint32_t first = graph->nodes[CALL_GRAPH_ROOT].first_child;

    return first == CALL_GRAPH_NONE ? &graph->nodes[CALL_GRAPH_ROOT] : &graph->nodes[first];
}

static int compare(const void *left_focus, const void *right_focus)
{
    const struct call_focus *left = left_focus, *right = right_focus;
    uint64_t left_total = call_focus_top(&left->callees)->total, right_total = call_focus_top(&right->callees)->total;

    if (left_total != right_total)
        return left_total > right_total ? -1 : 1;
    return left->function < right->function ? -1 : left->function > right->function;
}

void call_focuses_sort(struct call_focuses *focuses)
{
    if (focuses->count != 0)
        qsort(focuses->focuses, focuses->count, sizeof(focuses->focuses[0]), compare);
    for (size_t i = 0; i < focuses->count; i++) {
        call_graph_sort(&focuses->focuses[i].callers);
        call_graph_sort(&focuses->focuses[i].callees);
    }
}
