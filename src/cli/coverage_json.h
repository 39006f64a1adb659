/* SPDX-License-Identifier: MIT */
/* What `gait coverage --json` writes: one object, for programs. */
#ifndef GAIT_CLI_COVERAGE_JSON_H
#define GAIT_CLI_COVERAGE_JSON_H

#include "cli/coverage_options.h"
#include "view/coverage_lines.h"

/* lines NULL: they were not asked for. */
void coverage_json_put(struct screen *screen, const struct coverage_options *options, const struct coverage *coverage,
                       const struct coverage_lines *lines);

#endif
