/* SPDX-License-Identifier: MIT */
/*
 * Single functions of a trace, each with its callers and with what it calls, added up by their paths. Memory grows with
 * different paths, up to a limit; so does the number of functions. One thread at a time.
 */
#ifndef GAIT_VIEW_CALL_FOCUS_H
#define GAIT_VIEW_CALL_FOCUS_H

#include "view/call_graph_reader.h"
#include "view/function_choice.h"

#define CALL_FOCUS_MAX 32u

struct call_focus {
    uint32_t function;         /* number */
    uint64_t calls;            /* also from within itself */
    struct call_graph callers; /* below the root is the function, below it who called it, and so on outwards */
    struct call_graph callees; /* below the root is the function, below it whom it called */
    uint32_t base;             /* while it is open: the depth of the outermost call */
    uint32_t *nodes;           /* the same: of the calls from there on */
    size_t capacity;
    bool is_open;
};

struct call_focuses {
    struct function_choice *choice;
    uint32_t depth;
    struct call_focus focuses[CALL_FOCUS_MAX];
    size_t count;
    uint32_t open[CALL_FOCUS_MAX]; /* those that are, the outermost first */
    size_t open_count;
};

/* No functions yet; those that the choice means come when they are read. It must outlive this. */
void call_focuses_init(struct call_focuses *focuses, struct function_choice *choice, uint32_t depth);
void call_focuses_deinit(struct call_focuses *focuses);

/* As call_graph_read. */
MUST_USE int call_focuses_read(struct call_focuses *focuses, size_t thread, struct call_graph_missing *missing,
                               struct gait_error *err);

/* The longest first, and so within the graphs. */
void call_focuses_sort(struct call_focuses *focuses);

/* The function itself in one of the graphs. */
const struct call_graph_node *call_focus_top(const struct call_graph *graph);

#endif
