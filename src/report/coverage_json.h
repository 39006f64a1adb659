/* SPDX-License-Identifier: MIT */
/* What `gait coverage --json` writes: one object, for programs. */
#ifndef GAIT_REPORT_COVERAGE_JSON_H
#define GAIT_REPORT_COVERAGE_JSON_H

#include "report/coverage_choice.h"
#include "view/coverage_lines.h"

#include <stdio.h>

/* lines NULL: they were not asked for. */
void coverage_json_put(FILE *stream, const struct coverage_choice *choice, const struct coverage *coverage,
                       const struct coverage_lines *lines);

#endif
