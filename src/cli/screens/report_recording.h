/* SPDX-License-Identifier: MIT */
/* The part of a report that says what was recorded: the program, when, for how long, how it ended, what is missing. */
#ifndef GAIT_CLI_SCREENS_REPORT_RECORDING_H
#define GAIT_CLI_SCREENS_REPORT_RECORDING_H

struct screen;
struct trace_report;

void report_recording(struct screen *screen, const struct trace_report *report);

#endif
