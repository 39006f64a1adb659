/* SPDX-License-Identifier: MIT */
/* What the manifest says about a recording's processes and threads: how long, how they ended, why they were left. */
#ifndef GAIT_REPORT_PROCESS_WORDS_H
#define GAIT_REPORT_PROCESS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct manifest_process;
struct manifest_thread;
struct trace_report;
struct view_process;
struct view_thread;
struct view_trace;

/* NULL: the manifest does not know them. */
const struct manifest_process *report_listed_process(const struct view_trace *trace,
                                                     const struct view_process *process);
const struct manifest_thread *report_listed_thread(const struct view_trace *trace, const struct view_thread *thread);

/* From the first to the last moment that is known; 0: that is not known. */
uint64_t report_duration_ns(const struct trace_report *report);

/* "exit status 3", "killed by signal 9 (SIGKILL)", or nothing if that is not known. Returns the text. */
const char *report_status_write(int status, char *text, size_t text_bytes);

/* Whether a process was ended by a signal, or said how it died. */
bool report_has_crash(const struct trace_report *report, size_t process);

/* Why a thread was not followed any further, in words: of enum ring_left_reason. */
const char *report_left_explain(uint32_t reason);

#endif
