/* SPDX-License-Identifier: MIT */
/* Which events of the kernel a trace has: how many of each source, how often, and what was lost. */
#ifndef GAIT_CLI_SCREENS_REPORT_KERNEL_H
#define GAIT_CLI_SCREENS_REPORT_KERNEL_H

struct screen;
struct view_trace;

/* Nothing, if there are none. */
void report_kernel_show(const struct view_trace *trace, struct screen *screen);

#endif
