/* SPDX-License-Identifier: MIT */
/* The part of a report that says what happened around which records were kept, and which times those are. */
#ifndef GAIT_CLI_SCREENS_REPORT_WINDOWS_H
#define GAIT_CLI_SCREENS_REPORT_WINDOWS_H

struct manifest;
struct screen;

/* Shows nothing of a recording without triggers and windows. */
void report_windows(struct screen *screen, const struct manifest *manifest);

#endif
