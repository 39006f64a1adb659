/* SPDX-License-Identifier: MIT */
/* The part of a report about how long hooked functions took. */
#ifndef GAIT_CLI_REPORT_TIMES_H
#define GAIT_CLI_REPORT_TIMES_H

struct function_names;
struct screen;
struct trace_summary;

/* A table of at most so many functions, those that took most time first. Nothing, if none was hooked. */
void report_times(struct screen *screen, const struct trace_summary *summary, struct function_names *names, int limit);

#endif
