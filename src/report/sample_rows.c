/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "report/sample_rows.h"

#include "view/sample_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ranking {
    const struct sample_tree *tree;
    bool by_self;
};

static int compare(const void *left_number, const void *right_number, void *context)
{
    const struct ranking *ranking = context;
    const struct sample_function *left = &ranking->tree->functions[*(const uint32_t *)left_number],
                                 *right = &ranking->tree->functions[*(const uint32_t *)right_number];
    uint64_t left_count = ranking->by_self ? left->self : left->total,
             right_count = ranking->by_self ? right->self : right->total;

    if (left_count != right_count)
        return left_count > right_count ? -1 : 1;
    return strcmp(left->name, right->name);
}

int sample_rows_rank(struct sample_rows *rows, const struct sample_tree *tree, bool by_self)
{
    struct ranking ranking = {tree, by_self};

    *rows = (struct sample_rows){.functions = calloc(tree->function_count + 1, sizeof(*rows->functions))};
    if (rows->functions == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < tree->function_count; i++)
        if (!tree->functions[i].is_thread && (!by_self || tree->functions[i].self != 0))
            rows->functions[rows->count++] = i;
    qsort_r(rows->functions, rows->count, sizeof(*rows->functions), compare, &ranking);
    return 0;
}

void sample_rows_free(struct sample_rows *rows)
{
    free(rows->functions);
    rows->functions = NULL;
}
