/* SPDX-License-Identifier: MIT */
/* The part of a report that says which threads went on without being followed: where, and why. */
#ifndef GAIT_CLI_SCREENS_REPORT_LEFT_H
#define GAIT_CLI_SCREENS_REPORT_LEFT_H

struct function_names;
struct screen;
struct trace_report;

/* Shows nothing if all were followed to their end. */
void report_left(struct screen *screen, const struct trace_report *report, struct function_names *names);

#endif
