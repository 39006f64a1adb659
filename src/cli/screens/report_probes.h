/* SPDX-License-Identifier: MIT */
/* The part of a report that shows probes: how often each was passed, and with what. One thread at a time. */
#ifndef GAIT_CLI_SCREENS_REPORT_PROBES_H
#define GAIT_CLI_SCREENS_REPORT_PROBES_H

#include <stddef.h>

struct screen;
struct trace_report;

/* Shows at most `limit` probes of each process; nothing if there are none. */
void report_probes_show(const struct trace_report *report, struct screen *screen, size_t limit);

#endif
