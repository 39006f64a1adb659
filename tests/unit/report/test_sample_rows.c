/* SPDX-License-Identifier: MIT */
#include "report/sample_rows.h"

#include "support/sample_stacks.h"

static void functions_are_ranked_by_samples(void)
{
    const struct sample_place leaf[] = {{"main", "a.out", false}, {"leaf", "b.so", false}};
    struct sample_tree tree;
    struct sample_rows rows;

    CHECK_EQUAL(sample_tree_init(&tree), 0);
    sample_stacks_add(&tree);
    CHECK_EQUAL(sample_tree_add(&tree, leaf, 2, 1), 0);
    CHECK_EQUAL(sample_rows_rank(&rows, &tree, false), 0);
    /* The thread is none. */
    CHECK_EQUAL(rows.count, 3);
    CHECK_TEXT(tree.functions[rows.functions[0]].name, "main");
    CHECK_TEXT(tree.functions[rows.functions[2]].name, "leaf");
    sample_rows_free(&rows);
    CHECK_EQUAL(sample_rows_rank(&rows, &tree, true), 0);
    CHECK_TEXT(tree.functions[rows.functions[0]].name, "work");
    CHECK_TEXT(tree.functions[rows.functions[1]].name, "main");
    sample_rows_free(&rows);
    sample_tree_deinit(&tree);
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_are_ranked_by_samples),
};

CHECK_MAIN(cases)
