/* SPDX-License-Identifier: MIT */
/* The part of a report that says how processes died: where, with which registers, and what threads did last. */
#ifndef GAIT_CLI_SCREENS_REPORT_CRASH_H
#define GAIT_CLI_SCREENS_REPORT_CRASH_H

struct function_names;
struct screen;
struct trace_report;

/* Shows nothing if no process was ended by a signal. */
void report_crash(struct screen *screen, const struct trace_report *report, struct function_names *names);

#endif
