/* SPDX-License-Identifier: MIT */
/* Texts come from files: they are shown through printable(). */
#define _GNU_SOURCE
#include "cli/screens/sample_screen.h"

#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/figures.h"
#include "view/sample_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_BYTES 1024

/* ---- trees ------------------------------------------------------------------------------------------------------- */

static void put_heading(struct screen *screen, const char *what)
{
    char text[96];

    snprintf(text, sizeof(text), "%9s %8s %9s  %s", "samples", "%", "self", what);
    screen_put(screen, SCREEN_STRONG, 0, text);
    screen_print(screen, "\n");
}

static void put_node(struct screen *screen, const struct sample_tree *tree, uint32_t which, uint32_t level,
                     bool has_self)
{
    const struct sample_node *node = &tree->nodes[which];
    const struct sample_function *function = sample_tree_function(tree, which);
    char clean[TEXT_BYTES], text[FIGURE_BYTES], self[24] = "";

    if (has_self)
        snprintf(self, sizeof(self), "%" PRIu64, node->self);
    screen_print(screen, "%9" PRIu64 " %8s %9s  %*s", node->total,
                 share_write((double)node->total, (double)tree->sample_count, text), self, (int)(2 * level), "");
    screen_put(screen, function->is_thread ? SCREEN_STRONG : SCREEN_PLAIN, 0,
               printable(clean, sizeof(clean), function->name));
    screen_print(screen, "\n");
}

/* Without recursion: paths are as deep as stacks. */
static void put_below(struct sample_screen *shown, const struct sample_tree *tree, bool has_self)
{
    uint32_t level = 0, node = tree->nodes[SAMPLE_ROOT].first_child;

    while (node != SAMPLE_NONE) {
        bool is_shown = (double)tree->nodes[node].total >= shown->min_share * (double)tree->sample_count;

        if (is_shown)
            put_node(shown->screen, tree, node, level, has_self);
        else
            shown->hidden_count++;
        if (is_shown && level + 1 < shown->depth && tree->nodes[node].first_child != SAMPLE_NONE) {
            node = tree->nodes[node].first_child;
            level++;
            continue;
        }
        while (tree->nodes[node].next == SAMPLE_NONE && tree->nodes[node].parent != SAMPLE_ROOT) {
            node = tree->nodes[node].parent;
            level--;
        }
        node = tree->nodes[node].next;
    }
}

static void put_source(struct screen *screen, const struct kernel_source *source, const struct sample_tree *tree)
{
    char clean[TEXT_BYTES];

    screen_put(screen, SCREEN_STRONG, 0, printable(clean, sizeof(clean), source->spec));
    screen_print(screen, ": %" PRIu64 " sample%s with a stack", tree->sample_count, tree->sample_count == 1 ? "" : "s");
    if (source->lost_count != 0)
        screen_print(screen, ", %" PRIu64 " lost", source->lost_count);
    screen_print(screen, "\n\n");
}

static void put_hidden(struct sample_screen *shown)
{
    if (shown->hidden_count != 0)
        screen_print(shown->screen, "%" PRIu64 " line%s with less %s left out; --min-percent 0 shows all\n",
                     shown->hidden_count, shown->hidden_count == 1 ? "" : "s", shown->hidden_count == 1 ? "is" : "are");
}

void sample_screen_put_trees(struct sample_screen *shown, const struct sample_trees *trees)
{
    for (size_t i = 0; i < trees->sources.source_count; i++) {
        const struct sample_tree *tree = &trees->trees[i];

        if (tree->sample_count == 0)
            continue;
        put_source(shown->screen, &trees->sources.sources[i], tree);
        put_heading(shown->screen, "thread, and below it the functions that its stacks lead through");
        put_below(shown, tree, true);
        screen_print(shown->screen, "\n");
    }
    put_hidden(shown);
}

/* ---- a function -------------------------------------------------------------------------------------------------- */

static int put_focus(struct sample_screen *shown, const struct sample_tree *tree, const char *glob)
{
    struct sample_tree callers, callees;
    int result = sample_tree_focus(tree, glob, true, &callers);

    if (result != 0)
        return result;
    result = sample_tree_focus(tree, glob, false, &callees);
    if (result == 0) {
        put_heading(shown->screen, "function, and below it who called it");
        put_below(shown, &callers, false);
        screen_print(shown->screen, "\n");
        put_heading(shown->screen, "function, and below it whom it calls");
        put_below(shown, &callees, true);
        screen_print(shown->screen, "\n");
        sample_tree_deinit(&callees);
    }
    sample_tree_deinit(&callers);
    return result;
}

int sample_screen_put_focuses(struct sample_screen *shown, const struct sample_trees *trees, const char *glob)
{
    int result = -ENOENT;

    for (size_t i = 0; i < trees->sources.source_count && result != -ENOMEM; i++) {
        struct sample_tree found;

        if (trees->trees[i].sample_count == 0 || sample_tree_focus(&trees->trees[i], glob, false, &found) != 0)
            continue;
        sample_tree_deinit(&found);
        put_source(shown->screen, &trees->sources.sources[i], &trees->trees[i]);
        result = put_focus(shown, &trees->trees[i], glob);
    }
    put_hidden(shown);
    return result;
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

struct counted_stack {
    uint32_t source;
    uint32_t node;
    uint64_t count;
};

static int compare(const void *left_stack, const void *right_stack)
{
    const struct counted_stack *left = left_stack, *right = right_stack;

    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return left->node < right->node ? -1 : left->node > right->node;
}

static void put_stack(struct screen *screen, const struct sample_trees *trees, const struct counted_stack *stack)
{
    const struct sample_tree *tree = &trees->trees[stack->source];
    char clean[TEXT_BYTES];
    uint32_t at = stack->node, thread = stack->node;

    while (tree->nodes[thread].parent != SAMPLE_ROOT)
        thread = tree->nodes[thread].parent;
    screen_put(screen, SCREEN_STRONG, 0, printable(clean, sizeof(clean), sample_tree_function(tree, at)->name));
    screen_print(screen, "  %" PRIu64 " sample%s of ", stack->count, stack->count == 1 ? "" : "s");
    screen_print(screen, "%s, ", printable(clean, sizeof(clean), trees->sources.sources[stack->source].spec));
    screen_print(screen, "thread %s\n", printable(clean, sizeof(clean), sample_tree_function(tree, thread)->name));
    for (at = tree->nodes[at].parent; at != thread && at != SAMPLE_ROOT && at != SAMPLE_NONE;
         at = tree->nodes[at].parent)
        screen_print(screen, "    %s\n", printable(clean, sizeof(clean), sample_tree_function(tree, at)->name));
}

static size_t count_stacks(const struct sample_trees *trees, struct counted_stack *stacks_out)
{
    size_t count = 0;

    for (uint32_t i = 0; i < trees->sources.source_count; i++)
        for (uint32_t node = 1; node < trees->trees[i].node_count; node++)
            if (trees->trees[i].nodes[node].self != 0) {
                if (stacks_out != NULL)
                    stacks_out[count] = (struct counted_stack){i, node, trees->trees[i].nodes[node].self};
                count++;
            }
    return count;
}

size_t sample_screen_put_stacks(struct screen *screen, const struct sample_trees *trees, size_t limit)
{
    size_t count = count_stacks(trees, NULL);
    struct counted_stack *stacks = calloc(count + 1, sizeof(*stacks));

    if (stacks == NULL) {
        screen_print(screen, "there is no memory for %zu stacks\n", count);
        return count;
    }
    (void)count_stacks(trees, stacks);
    qsort(stacks, count, sizeof(*stacks), compare);
    for (size_t i = 0; i < count && i < limit; i++)
        put_stack(screen, trees, &stacks[i]);
    if (count > limit)
        screen_print(screen, "and %zu more; --limit shows them\n", count - limit);
    free(stacks);
    return count;
}
