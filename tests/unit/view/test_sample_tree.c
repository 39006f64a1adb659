/* SPDX-License-Identifier: MIT */
#include "view/sample_tree.h"

#include "support/check.h"
#include "support/kernel_trace.h"
#include "support/sample_stacks.h"

#include <errno.h>
#include <string.h>

static uint32_t child(const struct sample_tree *tree, uint32_t node)
{
    return tree->nodes[node].first_child;
}

static void stacks_are_added_up_by_paths_and_by_functions(void)
{
    struct sample_tree tree;
    uint32_t node;

    CHECK_EQUAL(sample_tree_init(&tree), 0);
    sample_stacks_add(&tree);
    sample_tree_sort(&tree);
    CHECK_EQUAL(tree.sample_count, 6);
    node = child(&tree, SAMPLE_ROOT);
    CHECK(sample_tree_function(&tree, node)->is_thread);
    node = child(&tree, node);
    CHECK_TEXT(sample_tree_function(&tree, node)->name, "main");
    CHECK_EQUAL(tree.nodes[node].total, 6);
    CHECK_EQUAL(tree.nodes[node].self, 2);
    node = child(&tree, node);
    CHECK_EQUAL(tree.nodes[node].total, 4);
    CHECK_EQUAL(tree.nodes[node].self, 3);
    /* One that calls itself is in a stack once. */
    CHECK_EQUAL(sample_tree_function(&tree, node)->total, 4);
    CHECK_EQUAL(sample_tree_function(&tree, node)->self, 4);
    CHECK_EQUAL(child(&tree, child(&tree, node)), SAMPLE_NONE);
    sample_tree_deinit(&tree);
}

static void functions_stand_between_callers_and_callees(void)
{
    struct sample_tree tree, focus;

    CHECK_EQUAL(sample_tree_init(&tree), 0);
    sample_stacks_add(&tree);
    sample_tree_sort(&tree);
    CHECK_EQUAL(sample_tree_focus(&tree, "a.*!wor*", true, &focus), 0);
    CHECK_EQUAL(focus.sample_count, 4);
    CHECK_TEXT(sample_tree_function(&focus, child(&focus, SAMPLE_ROOT))->name, "work");
    CHECK_TEXT(sample_tree_function(&focus, child(&focus, child(&focus, SAMPLE_ROOT)))->name, "main");
    sample_tree_deinit(&focus);
    CHECK_EQUAL(sample_tree_focus(&tree, "work", false, &focus), 0);
    CHECK_EQUAL(focus.nodes[child(&focus, SAMPLE_ROOT)].self, 3);
    sample_tree_deinit(&focus);
    CHECK_EQUAL(sample_tree_focus(&tree, "worker", false, &focus), -ENOENT);
    CHECK_EQUAL(sample_tree_focus(&tree, "b!work", false, &focus), -ENOENT);
    sample_tree_deinit(&tree);
}

/* As kernel_trace_put_run() says: two samples, in the kernel and in a program without names. */
static void traces_have_trees_of_each_source(void)
{
    const char *other = "nobody";
    const struct sample_choice all = {.thread_count = 0}, none = {&other, 1};
    struct trace_folder folder;
    struct view_trace trace;
    struct view_functions functions;
    struct sample_trees trees;
    struct gait_error err;
    size_t with_stacks = 0;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    kernel_trace_put_run(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, &err), 0);
    CHECK_EQUAL(view_functions_init(&functions, &trace), 0);
    CHECK_EQUAL(sample_trees_read(&trees, &functions, &all, &err), 0);
    CHECK(sample_trees_have_stacks(&trees));
    for (size_t i = 0; i < trees.sources.source_count; i++) {
        const struct sample_tree *tree = &trees.trees[i];

        if (tree->sample_count == 0)
            continue;
        with_stacks++;
        CHECK_TEXT(trees.sources.sources[i].spec, "profile:hz:100");
        CHECK_EQUAL(tree->sample_count, 2);
        CHECK_EQUAL(tree->nodes[child(tree, SAMPLE_ROOT)].total, 2);
    }
    CHECK_EQUAL(with_stacks, 1);
    sample_trees_deinit(&trees);
    CHECK_EQUAL(sample_trees_read(&trees, &functions, &none, &err), 0);
    CHECK(!sample_trees_have_stacks(&trees));
    sample_trees_deinit(&trees);
    view_functions_deinit(&functions);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(stacks_are_added_up_by_paths_and_by_functions),
    CHECK_CASE(functions_stand_between_callers_and_callees),
    CHECK_CASE(traces_have_trees_of_each_source),
};

CHECK_MAIN(cases)
