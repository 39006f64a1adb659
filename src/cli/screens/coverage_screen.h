/* SPDX-License-Identifier: MIT */
/* What `gait coverage` shows, for people. */
#ifndef GAIT_CLI_SCREENS_COVERAGE_SCREEN_H
#define GAIT_CLI_SCREENS_COVERAGE_SCREEN_H

#include "cli/options/coverage_options.h"
#include "view/coverage_lines.h"

/* lines NULL: they were not asked for. */
void coverage_screen_put(struct screen *screen, const struct coverage_options *options, const struct coverage *coverage,
                         const struct coverage_lines *lines);

#endif
