/* SPDX-License-Identifier: MIT */
/* A tree of sampled stacks, for tests. */
#ifndef GAIT_TESTS_SAMPLE_STACKS_H
#define GAIT_TESTS_SAMPLE_STACKS_H

#include "support/check.h"
#include "view/sample_tree.h"

/* Of thread "worker": main calls work 3 times, and that itself once more; main is by itself in 2 samples. */
static inline void sample_stacks_add(struct sample_tree *tree)
{
    const struct sample_place stack[] = {
        {"worker", "", true}, {"main", "a.out", false}, {"work", "a.out", false}, {"work", "a.out", false}};

    CHECK_EQUAL(sample_tree_add(tree, stack, 2, 2), 0);
    CHECK_EQUAL(sample_tree_add(tree, stack, 3, 3), 0);
    CHECK_EQUAL(sample_tree_add(tree, stack, 4, 1), 0);
}

/* The same as the stacks of a profile. The source's text is not to be freed. */
static inline void sample_stacks_begin(struct sample_tree *tree, struct kernel_source *source,
                                       struct sample_trees *trees_out)
{
    CHECK_EQUAL(sample_tree_init(tree), 0);
    sample_stacks_add(tree);
    sample_tree_sort(tree);
    *source = (struct kernel_source){.id = 0, .spec = (char *)(uintptr_t) "profile:hz:99", .lost_count = 7};
    *trees_out = (struct sample_trees){.sources = {.sources = source, .source_count = 1}, .trees = tree};
}

#endif
