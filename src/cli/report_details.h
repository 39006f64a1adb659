/* SPDX-License-Identifier: MIT */
/* The part of a report that shows functions whose calls were looked at closely: how often, how long, with what. */
#ifndef GAIT_CLI_REPORT_DETAILS_H
#define GAIT_CLI_REPORT_DETAILS_H

struct function_names;
struct screen;
struct trace_summary;

/* Shows at most `limit` functions of each process; nothing if there are none. */
void report_details(struct screen *screen, const struct trace_summary *summary, struct function_names *names,
                    int limit);

#endif
