/* SPDX-License-Identifier: MIT */
/* The part of a report that says what was recorded: the program, when, for how long, how it ended, what is missing. */
#ifndef GAIT_CLI_REPORT_RECORDING_H
#define GAIT_CLI_REPORT_RECORDING_H

#include <stddef.h>
#include <stdint.h>

struct screen;
struct trace_report;

void report_recording(struct screen *screen, const struct trace_report *report);

/* From the first to the last moment that is known; 0: that is not known. */
uint64_t report_duration_ns(const struct trace_report *report);

/* "exit status 3", "killed by signal 9 (SIGKILL)", or nothing if that is not known. Returns the text. */
const char *report_status_write(int status, char *text, size_t text_bytes);

/* "1,234,567". Returns the text. */
#define REPORT_COUNT_BYTES 32
const char *report_count_write(uint64_t count, char text[REPORT_COUNT_BYTES]);

#endif
