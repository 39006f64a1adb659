/* SPDX-License-Identifier: MIT */
/* The part of a report that shows system calls: how often, how many failed, how long they took. One thread at a time.
 */
#ifndef GAIT_CLI_SCREENS_REPORT_SYSTEM_CALLS_H
#define GAIT_CLI_SCREENS_REPORT_SYSTEM_CALLS_H

#include <stddef.h>

struct screen;
struct trace_report;

/* At most `limit` of them; nothing if there are none. */
void report_system_calls_show(struct screen *screen, const struct trace_report *report, size_t limit);

#endif
