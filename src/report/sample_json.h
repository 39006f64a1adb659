/* SPDX-License-Identifier: MIT */
/* Stacks that the kernel took, as JSON: docs/report_json.md says what is in it. */
#ifndef GAIT_REPORT_SAMPLE_JSON_H
#define GAIT_REPORT_SAMPLE_JSON_H

#include "base/attributes.h"

#include <stddef.h>

struct json_writer;
struct sample_trees;

/* "profiles", with functions by samples, at most `limit` of each; nothing if there are no stacks. -ENOMEM. */
MUST_USE int sample_json_put_functions(struct json_writer *json, const struct sample_trees *trees, size_t limit);

/* "profiles", with all paths that have at least such a share of the samples; nothing if there are no stacks. */
void sample_json_put_trees(struct json_writer *json, const struct sample_trees *trees, double min_share);

#endif
