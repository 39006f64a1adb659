/* SPDX-License-Identifier: MIT */
#include "export/stack_tree.h"

#include "export/function_texts.h"
#include "support/check.h"
#include "support/export_lab.h"

static struct export_lab lab;

/* A line for each node: "depth text calls self total". */
static char *describe(const struct stack_tree *tree)
{
    static char text[4096];
    size_t used = 0;

    for (uint32_t node = 0; node != STACK_NO_NODE; node = stack_tree_next(tree, node)) {
        const struct stack_node *at = &tree->nodes[node];

        used += (size_t)snprintf(text + used, sizeof(text) - used, "%u %.14s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                                 at->depth, node == 0 ? "-" : stack_tree_text(tree, node), at->call_count, at->self_ns,
                                 at->total_ns);
    }
    return text;
}

static void stacks_are_added_up_in_the_order_of_their_texts(void)
{
    struct stack_tree tree;

    export_lab_init(&lab);
    CHECK_EQUAL(stack_tree_read(&tree, &lab.job, function_texts_name, &lab.err), 0);
    CHECK_TEXT(describe(&tree), "0 - 0 0 1600\n"
                                "1 example 0 0 250\n"
                                "2 example+0x1100 5 250 250\n"
                                "1 thread 102 0 0 1100\n"
                                "2 example+0x1000 2 800 1100\n"
                                "3 example+0x1100 3 200 300\n"
                                "4 <i>&\"\\;\xef\xbf\xbd\xef\xbf\xbd<"
                                " 1 100 100\n"
                                "1 worker 0 0 250\n"
                                "2 example+0x1100 5 250 250\n");
    CHECK_EQUAL(tree.gap_count, 4);
    CHECK_EQUAL(tree.lost_bytes, 288);
    CHECK_EQUAL(tree.guessed_count, 0);
    stack_tree_deinit(&tree);
    export_lab_deinit(&lab);
}

static void what_is_below_a_node_can_be_passed_over(void)
{
    struct stack_tree tree;
    uint32_t node;

    export_lab_init(&lab);
    CHECK_EQUAL(stack_tree_read(&tree, &lab.job, function_texts_name, &lab.err), 0);
    node = stack_tree_next_beside(&tree, stack_tree_next(&tree, 0));
    CHECK_TEXT(stack_tree_text(&tree, node), "thread 102");
    node = stack_tree_next_beside(&tree, stack_tree_next(&tree, node));
    CHECK_TEXT(stack_tree_text(&tree, node), "worker");
    CHECK_EQUAL(stack_tree_next_beside(&tree, node), STACK_NO_NODE);
    CHECK_EQUAL(stack_tree_next_beside(&tree, 0), STACK_NO_NODE);
    stack_tree_deinit(&tree);
    export_lab_deinit(&lab);
}

static void nothing_is_a_tree_without_frames(void)
{
    struct stack_tree tree;

    export_lab_init(&lab);
    lab.job.thread_count = 0;
    CHECK_EQUAL(stack_tree_read(&tree, &lab.job, function_texts_name, &lab.err), 0);
    CHECK_TEXT(describe(&tree), "0 - 0 0 0\n");
    stack_tree_deinit(&tree);
    export_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(stacks_are_added_up_in_the_order_of_their_texts),
    CHECK_CASE(what_is_below_a_node_can_be_passed_over),
    CHECK_CASE(nothing_is_a_tree_without_frames),
};

CHECK_MAIN(cases)
