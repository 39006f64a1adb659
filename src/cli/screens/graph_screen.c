/* SPDX-License-Identifier: MIT */
#include "cli/screens/graph_screen.h"

#include "cli/screens/guess_notice.h"
#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/figures.h"
#include "view/call_tracker.h"

#include <inttypes.h>
#include <string.h>

#define NAME_BYTES 1024

void graph_screen_init(struct graph_screen *shown, struct screen *screen, struct view_functions *functions,
                       double min_share)
{
    *shown = (struct graph_screen){.screen = screen};
    report_graph_init(&shown->graph, functions, min_share);
}

void graph_screen_put_guesses(struct graph_screen *shown, enum guessed_times guesses)
{
    shown->guesses = guesses;
    if (guess_notice_put(shown->screen, guesses, guesses == GUESSED_TIMES_NONE ? NULL : "--min-percent") != 0)
        screen_print(shown->screen, "\n");
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static void put_heading(struct graph_screen *shown, const char *what)
{
    char text[96];

    snprintf(text, sizeof(text), "%11s %7s %11s %11s  %s",
             shown->guesses == GUESSED_TIMES_ALL ? "total guess" : "total", "%",
             shown->guesses == GUESSED_TIMES_ALL ? "self guess" : "self", "calls", what);
    screen_put(shown->screen, SCREEN_STRONG, 0, text);
    screen_print(shown->screen, "\n");
}

static const char *clean_name(struct graph_screen *shown, uint32_t function, char text[NAME_BYTES])
{
    return printable(text, NAME_BYTES, view_functions_at(shown->graph.functions, function)->name);
}

/* total or self of UINT64_MAX: there is none to show. */
struct graph_line {
    uint64_t total;
    uint64_t self;
    uint64_t calls;
    uint32_t level;
    bool is_guessed;
    bool is_unknown; /* nobody knows how long it took */
    const char *name;
    const char *remark;
};

/* In a column of eleven. */
static void put_ticks(struct graph_screen *shown, uint64_t ticks, bool is_guessed)
{
    double nanoseconds = (double)ticks * shown->graph.tick_ns;
    char text[FIGURE_BYTES], signed_text[FIGURE_BYTES + 1];

    if (!is_guessed) {
        screen_print(shown->screen, "%11s", duration_write(nanoseconds, text));
        return;
    }
    snprintf(signed_text, sizeof(signed_text), "%s%s", shown->guesses == GUESSED_TIMES_ALL ? "" : "~",
             duration_write_rough(nanoseconds, text));
    screen_print(shown->screen, "%11s", signed_text);
}

static void put_line(struct graph_screen *shown, const struct graph_line *line, enum screen_style style)
{
    if (line->total == UINT64_MAX) {
        screen_print(shown->screen, "%11s %8s", "", "");
    } else if (line->is_unknown) {
        screen_print(shown->screen, "%11s %7s ", "-", "-");
    } else {
        put_ticks(shown, line->total, line->is_guessed);
        double share = report_graph_share(&shown->graph, line->total);
        char text[FIGURE_BYTES];

        screen_print(shown->screen, " %7s ",
                     line->is_guessed ? share_write_rough(share, 1, text) : share_write(share, 1, text));
    }
    if (line->self == UINT64_MAX)
        screen_print(shown->screen, "%11s", "");
    else if (line->is_unknown)
        screen_print(shown->screen, "%11s", "-");
    else
        put_ticks(shown, line->self, line->is_guessed);
    screen_print(shown->screen, " %11" PRIu64 "  %*s", line->calls, (int)(2 * line->level), "");
    screen_put(shown->screen, style, 0, line->name);
    screen_put(shown->screen, SCREEN_FAINT, 0, line->remark);
    screen_print(shown->screen, "\n");
}

static void put_node(struct graph_screen *shown, const struct call_graph *graph, uint32_t which, uint32_t level,
                     bool with_self)
{
    const struct call_graph_node *node = &graph->nodes[which];
    bool is_again = node->again != CALL_GRAPH_NONE;
    char name[NAME_BYTES];

    shown->flags |= node->flags;
    put_line(shown,
             &(struct graph_line){.total = is_again && node->total == 0 ? UINT64_MAX : node->total,
                                  .self = is_again || !with_self ? UINT64_MAX : node->self,
                                  .calls = node->calls,
                                  .level = level,
                                  .is_guessed = node->flags & CALL_GUESSED,
                                  .is_unknown = call_graph_is_unknown(node),
                                  .name = clean_name(shown, node->function, name),
                                  .remark = is_again ? "  (again)" : ""},
             SCREEN_PLAIN);
}

/* As deep as the graph is, which has a limit. */
static void put_below(struct graph_screen *shown, const struct call_graph *graph, uint32_t which, uint32_t level,
                      bool with_self)
{
    for (uint32_t child = graph->nodes[which].first_child; child != CALL_GRAPH_NONE; child = graph->nodes[child].next) {
        if (!report_graph_shows(&shown->graph, &graph->nodes[child])) {
            shown->hidden_count++;
            continue;
        }
        put_node(shown, graph, child, level, with_self);
        put_below(shown, graph, child, level + 1, with_self);
    }
}

static void put_process_name(struct graph_screen *shown, const struct view_process *process)
{
    char text[NAME_BYTES];

    screen_put(shown->screen, SCREEN_STRONG, 0, "process ");
    screen_print(shown->screen, "%" PRIu32 "%s%s", process->pid, process->command[0] == '\0' ? "" : ": ",
                 printable(text, sizeof(text), process->command));
}

void graph_screen_put_process(struct graph_screen *shown, const struct view_process *process,
                              const struct call_graph *graph)
{
    shown->graph.whole = call_graph_children_total(graph, CALL_GRAPH_ROOT);
    put_process_name(shown, process);
    screen_print(shown->screen, "\n\n");
    put_heading(shown, "function, and below it whom it calls");
    put_below(shown, graph, CALL_GRAPH_ROOT, 0, true);
    screen_print(shown->screen, "\n");
}

/* ---- a function -------------------------------------------------------------------------------------------------- */

static uint32_t top_of(const struct call_graph *graph)
{
    return graph->nodes[CALL_GRAPH_ROOT].first_child;
}

/* How often it was called by nobody that is known. */
static void put_unknown_callers(struct graph_screen *shown, const struct call_graph *callers)
{
    const struct call_graph_node *top = &callers->nodes[top_of(callers)];
    struct graph_line line = {.total = top->total,
                              .self = UINT64_MAX,
                              .calls = top->calls,
                              .is_guessed = top->flags & CALL_GUESSED,
                              .is_unknown = call_graph_is_unknown(top),
                              .name = "(not known by whom)"};

    for (uint32_t child = top->first_child; child != CALL_GRAPH_NONE; child = callers->nodes[child].next) {
        line.total -= callers->nodes[child].total;
        line.calls -= callers->nodes[child].calls;
    }
    line.remark = "";
    if (line.calls != 0)
        put_line(shown, &line, SCREEN_FAINT);
}

void graph_screen_put_focus(struct graph_screen *shown, const struct call_focus *focus)
{
    const struct call_graph_node *top = call_focus_top(&focus->callees);
    const struct view_function *function = view_functions_at(shown->graph.functions, focus->function);
    char name[NAME_BYTES], path[NAME_BYTES];

    shown->graph.whole = top->total;
    screen_put(shown->screen, SCREEN_STRONG, 0, clean_name(shown, focus->function, name));
    screen_print(shown->screen, " in %s",
                 function->module == NULL ? "no file" : printable(path, sizeof(path), function->module->path));
    if (shown->graph.functions->trace->process_count > 1) {
        screen_print(shown->screen, ", ");
        put_process_name(shown, &shown->graph.functions->trace->processes[function->process]);
    }
    screen_print(shown->screen, "\n\n");
    put_heading(shown, "called by, and below who called that");
    put_below(shown, &focus->callers, top_of(&focus->callers), 0, false);
    put_unknown_callers(shown, &focus->callers);
    screen_print(shown->screen, "\n");
    put_heading(shown, "the function, and below it whom it calls");
    put_line(shown,
             &(struct graph_line){.total = top->total,
                                  .self = top->self,
                                  .calls = focus->calls,
                                  .is_guessed = top->flags & CALL_GUESSED,
                                  .is_unknown = call_graph_is_unknown(top),
                                  .name = name,
                                  .remark = ""},
             SCREEN_STRONG);
    shown->flags |= top->flags;
    put_below(shown, &focus->callees, top_of(&focus->callees), 1, true);
    screen_print(shown->screen, "\n");
}

void graph_screen_put_legend(struct graph_screen *shown, uint64_t too_deep, uint64_t left_out,
                             const struct call_graph_missing *missing)
{
    struct screen *screen = shown->screen;

    if (shown->hidden_count != 0)
        screen_print(screen, "not shown, since each has less than %g %%: %" PRIu64 "; --min-percent 0 shows them\n",
                     100 * shown->graph.min_share, shown->hidden_count);
    if (too_deep != 0)
        screen_print(screen, "deeper calls: %" PRIu64 "; --depth shows them\n", too_deep);
    if (left_out != 0)
        screen_print(screen,
                     "calls left out, since there are too many different paths: %" PRIu64 "; try less --depth\n",
                     left_out);
    if (shown->flags & CALL_CUT)
        screen_print(screen,
                     "some calls had not ended when the recording did, or when events are missing: they took longer\n");
    if (shown->flags & CALL_NO_RETURN)
        screen_print(screen, "some calls were not seen to return: they took less\n");
    if (shown->flags & CALL_ENTRY_ONLY)
        screen_print(screen, "of some calls only the entry could be seen: how long they took, and whom they called, is "
                             "not known (-)\n");
    if (missing->gaps != 0)
        screen_print(screen,
                     "places where events are missing: %" PRIu64 "; bytes of them that were lost: %" PRIu64 "\n",
                     missing->gaps, missing->lost_bytes);
}
