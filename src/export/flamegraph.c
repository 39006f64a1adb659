/* SPDX-License-Identifier: MIT */
/*
 * A flame graph: a picture (SVG) of all stacks, the outermost frames at the top, as wide as the time spent in them. It
 * is one file that needs no other, complete without the script in it (flamegraph.js) that zooms and searches. All that
 * comes from a trace is text in it, escaped.
 */
#include "export/export_text.h"
#include "export/flamegraph_colour.h"
#include "export/function_texts.h"
#include "export/stack_tree.h"
#include "hosted/figures.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH      1200u
#define LEFT       10u
#define TOP        62u
#define ROW        18u
#define BOTTOM     30u
#define LETTER     7.2 /* how wide one is; the script measures it */
#define NAME_BYTES 4096u

/* Frames that are narrower than such a part of all are left out: a tenth of a pixel, before anybody zooms. */
#define PARTS 12000u

/* Divides a frame's name from its file; clean text has none. */
#define DIVIDER '\n'

extern const char flamegraph_style[], flamegraph_script[];

struct flamegraph {
    const struct export_job *job;
    FILE *stream;
    struct stack_tree tree;
    const char *program; /* the last part of its path */
    size_t drawn_count;
    size_t left_out_count;
    uint32_t deepest; /* of those that are drawn */
    uint64_t call_count;
};

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void put_escaped(FILE *stream, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char *escaped = text[i] == '<'   ? "&lt;"
                              : text[i] == '>' ? "&gt;"
                              : text[i] == '&' ? "&amp;"
                              : text[i] == '"' ? "&quot;"
                                               : NULL;

        if (escaped == NULL)
            putc_unlocked(text[i], stream);
        else
            export_put(stream, escaped);
    }
}

static void put_clean(FILE *stream, const char *text)
{
    char clean[NAME_BYTES];

    put_escaped(stream, clean, export_text_clean(clean, sizeof(clean), text));
}

static void put_count(FILE *stream, uint64_t number)
{
    char text[FIGURE_BYTES];

    export_put(stream, count_write(number, text));
}

static void put_duration(FILE *stream, uint64_t nanoseconds)
{
    char text[FIGURE_BYTES];

    export_put(stream, duration_write((double)nanoseconds, text));
}

static void put_percent(FILE *stream, uint64_t part, uint64_t all)
{
    char text[FIGURE_BYTES];

    export_put(stream, share_write((double)part, (double)all, text));
}

/* "inflate", then the divider, then "libz.so.1" */
static char *make_text(const struct view_function *function)
{
    char *name = function_texts_name(function), *text;
    char module[NAME_BYTES];
    size_t bytes = sizeof(module) + (name == NULL ? 0 : strlen(name)) + 2;

    export_text_clean(module, sizeof(module), function->module == NULL ? "" : export_last_name(function->module->path));
    text = name == NULL ? NULL : malloc(bytes);
    if (text != NULL)
        snprintf(text, bytes, "%s%c%s", name, DIVIDER, module);
    free(name);
    return text;
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

/* Where a frame is. */
struct drawn_frame {
    uint32_t node;
    uint64_t begin_ns;
    const char *name; /* not ended by a NUL */
    size_t name_length;
    const char *module; /* "": none */
};

static double to_pixels(const struct flamegraph *graph, uint64_t time_ns)
{
    return (double)time_ns / (double)graph->tree.nodes[0].total_ns * (WIDTH - 2 * LEFT);
}

/* "12 samples, 6.9 %; itself 3 samples, 1.7 %" */
static void put_samples(const struct flamegraph *graph, const struct stack_node *node)
{
    uint64_t all = graph->tree.nodes[0].sample_count;
    FILE *stream = graph->stream;

    put_count(stream, node->sample_count);
    export_put(stream, node->sample_count == 1 ? " sample, " : " samples, ");
    put_percent(stream, node->sample_count, all);
    export_put(stream, "; itself ");
    put_count(stream, node->self_sample_count);
    export_put(stream, ", ");
    put_percent(stream, node->self_sample_count, all);
}

/* What is of the kernel's samples, and of nothing else. */
static bool is_sampled(const struct flamegraph *graph, const struct stack_node *node)
{
    return node->sample_count != 0 && (node->depth > 0 || graph->call_count == 0);
}

/* What the script shows as a tip, as far as browsers do that themselves. */
static void put_title(const struct flamegraph *graph, const struct drawn_frame *frame)
{
    const struct stack_node *node = &graph->tree.nodes[frame->node];
    uint64_t all = graph->tree.nodes[0].total_ns;
    FILE *stream = graph->stream;

    export_put(stream, "<title>");
    put_escaped(stream, frame->name, frame->name_length);
    putc_unlocked('\n', stream);
    put_escaped(stream, frame->module, strlen(frame->module));
    putc_unlocked('\n', stream);
    if (is_sampled(graph, node)) {
        put_samples(graph, node);
        export_put(stream, "</title>");
        return;
    }
    put_duration(stream, node->total_ns);
    export_put(stream, ", ");
    put_percent(stream, node->total_ns, all);
    export_put(stream, "; itself ");
    put_duration(stream, node->self_ns);
    export_put(stream, ", ");
    put_percent(stream, node->self_ns, all);
    export_put(stream, "; calls: ");
    put_count(stream, node->call_count);
    export_put(stream, "</title>");
}

/* So many bytes of the name are at most so many characters. */
static size_t bytes_of(const char *text, size_t length, size_t characters)
{
    size_t used = 0;

    for (; used < length; used++) {
        /* All but the first byte of a character are 10xxxxxx. */
        if (((unsigned char)text[used] & 0xc0) != 0x80 && characters-- == 0)
            break;
    }
    return used;
}

static void put_label(const struct flamegraph *graph, const struct drawn_frame *frame, double x, double width,
                      unsigned y)
{
    size_t most = width < 8 ? 0 : (size_t)((width - 8) / LETTER);
    size_t fitting = bytes_of(frame->name, frame->name_length, most);

    fprintf(graph->stream, "<text x=\"%.2f\" y=\"%u\">", x + 4, y + 13);
    if (fitting == frame->name_length) {
        put_escaped(graph->stream, frame->name, fitting);
    } else if (most >= 3) {
        put_escaped(graph->stream, frame->name, bytes_of(frame->name, frame->name_length, most - 1));
        export_put(graph->stream, "\xe2\x80\xa6");
    }
    export_put(graph->stream, "</text>");
}

static void put_frame(const struct flamegraph *graph, const struct drawn_frame *frame)
{
    const struct stack_node *node = &graph->tree.nodes[frame->node];
    double x = LEFT + to_pixels(graph, frame->begin_ns), width = to_pixels(graph, node->total_ns);
    char name[NAME_BYTES];
    unsigned y = TOP + node->depth * ROW;

    snprintf(name, sizeof(name), "%.*s", (int)frame->name_length, frame->name);
    fprintf(graph->stream,
            "<g class=\"f\" data-b=\"%" PRIu64 "\" data-t=\"%" PRIu64 "\" data-s=\"%" PRIu64 "\" data-c=\"%" PRIu64
            "\" data-d=\"%u\"",
            frame->begin_ns, node->total_ns, node->self_ns, node->call_count, node->depth);
    if (is_sampled(graph, node))
        fprintf(graph->stream, " data-n=\"%" PRIu64 "\" data-m=\"%" PRIu64 "\"", node->sample_count,
                node->self_sample_count);
    export_put(graph->stream, ">");
    put_title(graph, frame);
    fprintf(graph->stream, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\" rx=\"2\" fill=\"#%06x\"/>", x, y,
            width, ROW - 1, flamegraph_colour(name, frame->module, strcmp(frame->module, graph->program) == 0));
    put_label(graph, frame, x, width, y);
    export_put(graph->stream, "</g>\n");
}

static void put_node(const struct flamegraph *graph, uint32_t node, uint64_t begin_ns)
{
    const char *text = node == 0 ? "all" : stack_tree_text(&graph->tree, node);
    const char *divider = strchr(text, DIVIDER);
    struct drawn_frame frame = {.node = node, .begin_ns = begin_ns, .name = text, .module = ""};

    frame.name_length = divider == NULL ? strlen(text) : (size_t)(divider - text);
    if (divider != NULL)
        frame.module = divider + 1;
    put_frame(graph, &frame);
}

/* ---- which frames ------------------------------------------------------------------------------------------------ */

static bool is_drawn(const struct flamegraph *graph, uint32_t node)
{
    return graph->tree.nodes[node].total_ns >= graph->tree.nodes[0].total_ns / PARTS &&
           graph->tree.nodes[node].total_ns != 0;
}

/* Visits all, and draws them or counts them. Those below one that is left out are left out. */
static void walk(struct flamegraph *graph, bool draws)
{
    /* Where the next frame of each depth begins. */
    uint64_t begins_ns[STACK_TREE_DEPTH_MAX + 3] = {0};

    for (uint32_t node = 0; node != STACK_NO_NODE && !ferror(graph->stream);) {
        const struct stack_node *at = &graph->tree.nodes[node];
        uint64_t begin_ns = begins_ns[at->depth];
        bool is = is_drawn(graph, node);

        begins_ns[at->depth] += at->total_ns;
        begins_ns[at->depth + 1] = begin_ns;
        if (is && draws)
            put_node(graph, node, begin_ns);
        if (is) {
            graph->drawn_count++;
            graph->deepest = at->depth > graph->deepest ? at->depth : graph->deepest;
        }
        node = is ? stack_tree_next(&graph->tree, node) : stack_tree_next_beside(&graph->tree, node);
    }
}

static void count(struct flamegraph *graph)
{
    walk(graph, false);
    graph->left_out_count = graph->tree.node_count - graph->drawn_count;
    for (size_t i = 0; i < graph->tree.node_count; i++)
        graph->call_count += graph->tree.nodes[i].call_count - graph->tree.nodes[i].self_sample_count;
}

/* ---- around them ------------------------------------------------------------------------------------------------- */

/* What was sampled: the frames below the root that have samples. */
static void put_sources(const struct flamegraph *graph)
{
    const struct stack_tree *tree = &graph->tree;
    const char *before = tree->nodes[0].sample_count == 1 ? " sample of " : " samples of ";

    put_count(graph->stream, tree->nodes[0].sample_count);
    for (uint32_t node = tree->nodes[0].first_child; node != STACK_NO_NODE; node = tree->nodes[node].next_sibling) {
        if (tree->nodes[node].sample_count == 0)
            continue;
        export_put(graph->stream, before);
        put_clean(graph->stream, stack_tree_text(tree, node));
        before = ", ";
    }
    if (tree->lost_sample_count == 0)
        return;
    export_put(graph->stream, "; ");
    put_count(graph->stream, tree->lost_sample_count);
    export_put(graph->stream, " were lost");
}

static void put_calls(const struct flamegraph *graph)
{
    const struct stack_tree *tree = &graph->tree;

    put_duration(graph->stream, tree->nodes[0].total_ns);
    export_put(graph->stream, " in ");
    put_count(graph->stream, graph->call_count);
    fprintf(graph->stream, " calls of %zu thread%s", graph->job->thread_count,
            graph->job->thread_count == 1 ? "" : "s");
    if (tree->nodes[0].sample_count != 0)
        export_put(graph->stream, ", and ");
}

static void put_notes(const struct flamegraph *graph)
{
    const struct stack_tree *tree = &graph->tree;
    FILE *stream = graph->stream;

    fprintf(stream, "<text class=\"note\" x=\"%u\" y=\"46\">", LEFT);
    if (graph->call_count != 0 || tree->nodes[0].sample_count == 0)
        put_calls(graph);
    if (tree->nodes[0].sample_count != 0)
        put_sources(graph);
    if (graph->left_out_count != 0) {
        export_put(stream, "; ");
        put_count(stream, graph->left_out_count);
        fprintf(stream, " frames narrower than 1/%u of all are left out", PARTS);
    }
    if (tree->guessed_count != 0)
        export_put(stream,
                   tree->guessed_count == graph->call_count ? "; times are guessed" : "; some times are guessed");
    if (tree->entry_only_count != 0) {
        export_put(stream, "; ");
        put_count(stream, tree->entry_only_count);
        export_put(stream, " calls have no width: only their entry was seen");
    }
    if (tree->lost_bytes != 0) {
        export_put(stream, "; events are missing: ");
        put_count(stream, tree->lost_bytes);
        export_put(stream, " bytes of records were lost");
    }
    export_put(stream, "</text>\n");
}

static void put_head(const struct flamegraph *graph)
{
    unsigned height = TOP + (graph->deepest + 1) * ROW + BOTTOM;
    FILE *stream = graph->stream;

    fprintf(stream,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" "
            "height=\"%u\" viewBox=\"0 0 %u %u\" data-total=\"%" PRIu64 "\">\n<style>\n",
            WIDTH, height, WIDTH, height, graph->tree.nodes[0].total_ns);
    export_put(stream, flamegraph_style);
    fprintf(stream,
            "</style>\n<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n"
            "<text class=\"head\" x=\"%u\" y=\"26\">Flame graph of ",
            LEFT);
    put_clean(stream, graph->program);
    export_put(stream, "</text>\n");
}

/* It is shown by the script. */
static void put_tools(FILE *stream)
{
    fprintf(stream,
            "<foreignObject id=\"tools\" style=\"display: none\" x=\"%u\" y=\"8\" width=\"470\" height=\"32\">"
            "<div xmlns=\"http://www.w3.org/1999/xhtml\" class=\"bar\"><span id=\"found\"></span>"
            "<input id=\"search\" type=\"search\" placeholder=\"Search ( / )\" spellcheck=\"false\"/>"
            "<button id=\"reset\" disabled=\"disabled\">Reset zoom</button></div></foreignObject>\n"
            "<g id=\"tip\" style=\"display: none\"><rect rx=\"5\"/><text></text></g>\n",
            WIDTH - LEFT - 470);
}

static void put_graph(struct flamegraph *graph)
{
    FILE *stream = graph->stream;

    count(graph);
    put_head(graph);
    put_notes(graph);
    if (graph->drawn_count != 0) {
        export_put(stream, "<g id=\"frames\">\n");
        walk(graph, true);
        export_put(stream, "</g>\n");
        put_tools(stream);
        export_put(stream, "<script><![CDATA[\n");
        export_put(stream, flamegraph_script);
        export_put(stream, "]]></script>\n");
    }
    export_put(stream, "</svg>\n");
}

static int write_flamegraph(const struct export_job *job, struct gait_error *err)
{
    const char *program = job->trace->manifest.program;
    struct flamegraph graph = {
        .job = job, .stream = job->stream, .program = program == NULL ? "" : export_last_name(program)};
    int result = stack_tree_read_divided(&graph.tree, job, make_text, DIVIDER, err);

    if (graph.tree.node_count != 0)
        put_graph(&graph);
    stack_tree_deinit(&graph.tree);
    return result;
}

extern const struct export_format export_format_flamegraph;
const struct export_format export_format_flamegraph = {
    .name = "flamegraph",
    .file_name = "trace.svg",
    .kind = EXPORT_TEXT,
    .write = write_flamegraph,
};
