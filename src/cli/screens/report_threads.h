/* SPDX-License-Identifier: MIT */
/* The part of a report about processes and threads: what there was of each, what is missing, what cannot be read. */
#ifndef GAIT_CLI_SCREENS_REPORT_THREADS_H
#define GAIT_CLI_SCREENS_REPORT_THREADS_H

struct screen;
struct trace_report;

void report_threads(struct screen *screen, const struct trace_report *report);

/* What is damaged, a paragraph each; nothing if all is good. */
void report_problems(struct screen *screen, const struct trace_report *report);

#endif
