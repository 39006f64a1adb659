/* SPDX-License-Identifier: MIT */
/* The part of a report about processes and threads: what there was of each, what is missing, what cannot be read. */
#ifndef GAIT_CLI_REPORT_THREADS_H
#define GAIT_CLI_REPORT_THREADS_H

struct manifest_process;
struct manifest_thread;
struct screen;
struct trace_report;
struct view_process;
struct view_thread;
struct view_trace;

void report_threads(struct screen *screen, const struct trace_report *report);

/* What is damaged, a paragraph each; nothing if all is good. */
void report_problems(struct screen *screen, const struct trace_report *report);

/* NULL: the manifest does not know them. */
const struct manifest_process *report_listed_process(const struct view_trace *trace,
                                                     const struct view_process *process);
const struct manifest_thread *report_listed_thread(const struct view_trace *trace, const struct view_thread *thread);

#endif
