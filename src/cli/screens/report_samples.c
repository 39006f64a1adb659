/* SPDX-License-Identifier: MIT */
/* Texts come from files: they are shown through printable(). */
#include "cli/screens/report_sections.h"

#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/figures.h"
#include "report/sample_rows.h"
#include "view/sample_tree.h"
#include "view/trace_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_COLUMNS_MIN 16
#define NAME_COLUMNS_MAX 48
#define TEXT_BYTES       1024

/* As many as the longest name needs, but names of monsters only push the file away. */
static int count_columns(const struct sample_tree *tree, const struct sample_rows *rows, size_t shown)
{
    size_t columns = NAME_COLUMNS_MIN;

    for (size_t i = 0; i < shown; i++) {
        size_t length = strlen(tree->functions[rows->functions[i]].name);

        if (length > columns && length <= NAME_COLUMNS_MAX)
            columns = length;
    }
    return (int)columns;
}

static void put_row(struct screen *screen, const struct sample_tree *tree, uint32_t which, int name_columns)
{
    const struct sample_function *function = &tree->functions[which];
    char clean[TEXT_BYTES], module[TEXT_BYTES], text[FIGURE_BYTES];

    screen_print(screen, " %9" PRIu64 " %8s", function->total,
                 share_write((double)function->total, (double)tree->sample_count, text));
    screen_print(screen, " %9" PRIu64 " %8s", function->self,
                 share_write((double)function->self, (double)tree->sample_count, text));
    screen_print(screen, "  %-*s  %s\n", name_columns, printable(clean, sizeof(clean), function->name),
                 function->module[0] == '\0' ? "no file" : printable(module, sizeof(module), function->module));
}

static int put_table(struct screen *screen, const struct sample_tree *tree, bool by_self, size_t limit)
{
    struct sample_rows rows;
    int result = sample_rows_rank(&rows, tree, by_self), columns;
    size_t shown = result != 0 || rows.count < limit ? rows.count : limit;
    char text[TEXT_BYTES];

    if (result != 0)
        return result;
    columns = count_columns(tree, &rows, shown);
    snprintf(text, sizeof(text), "\n%zu function%s by samples %s\n", rows.count, rows.count == 1 ? "" : "s",
             by_self ? "of their own, without what they call" : "with all that they call");
    screen_put(screen, SCREEN_STRONG, 0, text);
    snprintf(text, sizeof(text), " %9s %8s %9s %8s  %-*s  module\n", "total", "%", "self", "self %", columns,
             "function");
    screen_put(screen, SCREEN_FAINT, 0, text);
    for (size_t i = 0; i < shown; i++)
        put_row(screen, tree, rows.functions[i], columns);
    if (shown < rows.count)
        screen_print(screen, "and %zu more; --limit shows them\n", rows.count - shown);
    sample_rows_free(&rows);
    return 0;
}

static void put_source(struct screen *screen, const struct kernel_source *source, const struct sample_tree *tree,
                       size_t limit)
{
    char clean[TEXT_BYTES];

    screen_print(screen, "\n");
    screen_put(screen, SCREEN_STRONG, 0, printable(clean, sizeof(clean), source->spec));
    screen_print(screen, ": %" PRIu64 " sample%s with a stack", tree->sample_count, tree->sample_count == 1 ? "" : "s");
    if (tree->bare_count != 0)
        screen_print(screen, ", %" PRIu64 " without", tree->bare_count);
    if (source->lost_count != 0)
        screen_print(screen, ", %" PRIu64 " lost", source->lost_count);
    screen_print(screen, "\n");
    if (put_table(screen, tree, false, limit) != 0 || put_table(screen, tree, true, limit) != 0)
        screen_print(screen, "there is no memory for its rows\n");
}

void report_samples_show(struct screen *screen, struct trace_report *report, size_t limit)
{
    const struct sample_choice all = {.thread_count = 0};
    struct gait_error err = {.code = 0};
    struct sample_trees trees;
    char clean[TEXT_BYTES];
    int result = sample_trees_read(&trees, &report->groups.functions, &all, &err);

    if (result != 0) {
        /* That a trace is not whole is said where events are counted. */
        if (result == -ENOMEM)
            screen_print(screen, "\n%s\n", printable(clean, sizeof(clean), err.text));
        return;
    }
    for (size_t i = 0; i < trees.sources.source_count; i++)
        if (trees.trees[i].sample_count != 0)
            put_source(screen, &trees.sources.sources[i], &trees.trees[i], limit);
    sample_trees_deinit(&trees);
}
