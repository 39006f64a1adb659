/* SPDX-License-Identifier: MIT */
/* Call graphs for people, as lines with indented names. */
#ifndef GAIT_CLI_SCREENS_GRAPH_SCREEN_H
#define GAIT_CLI_SCREENS_GRAPH_SCREEN_H

#include "report/report_graph.h"
#include "view/guessed_times.h"

struct screen;

struct graph_screen {
    struct screen *screen;
    struct report_graph graph;
    uint64_t hidden_count; /* nodes that had less */
    uint32_t flags;        /* that occurred, of enum call_flag */
    enum guessed_times guesses;
};

void graph_screen_init(struct graph_screen *shown, struct screen *screen, struct view_functions *functions,
                       double min_share);

/* Says above all of it that times are guessed, if they are. */
void graph_screen_put_guesses(struct graph_screen *shown, enum guessed_times guesses);

/* All paths of a process. */
void graph_screen_put_process(struct graph_screen *shown, const struct view_process *process,
                              const struct call_graph *graph);
/* A function between its callers and what it calls. */
void graph_screen_put_focus(struct graph_screen *shown, const struct call_focus *focus);
/* What is to be said of all of it. */
void graph_screen_put_legend(struct graph_screen *shown, uint64_t too_deep, uint64_t left_out,
                             const struct call_graph_missing *missing);

#endif
