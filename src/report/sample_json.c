/* SPDX-License-Identifier: MIT */
#include "report/sample_json.h"

#include "hosted/json_writer.h"
#include "report/sample_rows.h"
#include "view/sample_tree.h"

static void open_source(struct json_writer *json, const struct sample_trees *trees, size_t which)
{
    json_writer_open(json, NULL, '{');
    json_writer_text(json, "spec", trees->sources.sources[which].spec);
    json_writer_count(json, "samples", trees->trees[which].sample_count);
    json_writer_count(json, "without_stack", trees->trees[which].bare_count);
    json_writer_count(json, "lost", trees->sources.sources[which].lost_count);
}

static void put_function(struct json_writer *json, const struct sample_function *function)
{
    json_writer_open(json, NULL, '{');
    json_writer_text(json, "function", function->name);
    if (function->module[0] != '\0')
        json_writer_text(json, "module", function->module);
    json_writer_count(json, "total", function->total);
    json_writer_count(json, "self", function->self);
    json_writer_close(json, '}');
}

static int put_functions(struct json_writer *json, const struct sample_tree *tree, size_t limit)
{
    struct sample_rows rows;
    int result = sample_rows_rank(&rows, tree, false);

    if (result != 0)
        return result;
    json_writer_open(json, "functions", '[');
    for (size_t i = 0; i < rows.count && i < limit; i++)
        put_function(json, &tree->functions[rows.functions[i]]);
    json_writer_close(json, ']');
    sample_rows_free(&rows);
    return 0;
}

int sample_json_put_functions(struct json_writer *json, const struct sample_trees *trees, size_t limit)
{
    int result = 0;

    if (!sample_trees_have_stacks(trees))
        return 0;
    json_writer_open(json, "profiles", '[');
    for (size_t i = 0; i < trees->sources.source_count && result == 0; i++) {
        if (trees->trees[i].sample_count == 0)
            continue;
        open_source(json, trees, i);
        result = put_functions(json, &trees->trees[i], limit);
        json_writer_close(json, '}');
    }
    json_writer_close(json, ']');
    return result;
}

static void open_node(struct json_writer *json, const struct sample_tree *tree, uint32_t which)
{
    const struct sample_function *function = sample_tree_function(tree, which);

    json_writer_open(json, NULL, '{');
    json_writer_text(json, function->is_thread ? "thread" : "function", function->name);
    if (function->module[0] != '\0')
        json_writer_text(json, "module", function->module);
    json_writer_count(json, "total", tree->nodes[which].total);
    json_writer_count(json, "self", tree->nodes[which].self);
    json_writer_open(json, "calls", '[');
}

static void close_node(struct json_writer *json)
{
    json_writer_close(json, ']');
    json_writer_close(json, '}');
}

/* Without recursion: paths are as deep as stacks. */
static void put_tree(struct json_writer *json, const struct sample_tree *tree, double min_share)
{
    uint32_t node = tree->nodes[SAMPLE_ROOT].first_child;

    json_writer_open(json, "threads", '[');
    while (node != SAMPLE_NONE) {
        if ((double)tree->nodes[node].total >= min_share * (double)tree->sample_count) {
            open_node(json, tree, node);
            if (tree->nodes[node].first_child != SAMPLE_NONE) {
                node = tree->nodes[node].first_child;
                continue;
            }
            close_node(json);
        }
        while (tree->nodes[node].next == SAMPLE_NONE && tree->nodes[node].parent != SAMPLE_ROOT) {
            node = tree->nodes[node].parent;
            close_node(json);
        }
        node = tree->nodes[node].next;
    }
    json_writer_close(json, ']');
}

void sample_json_put_trees(struct json_writer *json, const struct sample_trees *trees, double min_share)
{
    if (!sample_trees_have_stacks(trees))
        return;
    json_writer_open(json, "profiles", '[');
    for (size_t i = 0; i < trees->sources.source_count; i++) {
        if (trees->trees[i].sample_count == 0)
            continue;
        open_source(json, trees, i);
        put_tree(json, &trees->trees[i], min_share);
        json_writer_close(json, '}');
    }
    json_writer_close(json, ']');
}
