/* SPDX-License-Identifier: MIT */
/* The functions of sampled stacks in an order. */
#ifndef GAIT_REPORT_SAMPLE_ROWS_H
#define GAIT_REPORT_SAMPLE_ROWS_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample_tree;

/* Numbers of functions, those with the most samples first: with callees, or without. */
struct sample_rows {
    uint32_t *functions;
    size_t count; /* those without any are left out */
};

/* -ENOMEM. */
MUST_USE int sample_rows_rank(struct sample_rows *rows, const struct sample_tree *tree, bool by_self);
void sample_rows_free(struct sample_rows *rows);

#endif
