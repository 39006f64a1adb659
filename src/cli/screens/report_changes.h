/* SPDX-License-Identifier: MIT */
/* Two traces side by side, on a screen. */
#ifndef GAIT_CLI_SCREENS_REPORT_CHANGES_H
#define GAIT_CLI_SCREENS_REPORT_CHANGES_H

#include <stddef.h>

struct report_diff;
struct screen;

/* What both are of, and at most so many changes. */
void report_changes_show(struct screen *screen, const struct report_diff *diff, const char *before_path,
                         const char *after_path, size_t limit);

#endif
