/* SPDX-License-Identifier: MIT */
/* The parts of a report on a screen, a file each. They show nothing where there is nothing. One thread at a time. */
#ifndef GAIT_CLI_SCREENS_REPORT_SECTIONS_H
#define GAIT_CLI_SCREENS_REPORT_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct function_names;
struct manifest;
struct report_details;
struct report_diff;
struct screen;
struct trace_report;
struct view_trace;

/* What was recorded: the program, when, for how long, how it ended, what is missing. */
void report_recording(struct screen *screen, const struct trace_report *report);

/* What happened around which records were kept, and which times those are; of a recording with triggers and windows. */
void report_windows(struct screen *screen, const struct manifest *manifest);

/*
 * Processes and threads: what there was of each, what is missing. Where there are many they are counted, unless a list
 * is asked for.
 */
void report_threads(struct screen *screen, const struct trace_report *report, bool is_list);

/* What is damaged, a paragraph each. */
void report_problems(struct screen *screen, const struct trace_report *report);

/* How processes died that a signal ended: where, with which registers, and what threads did last. */
void report_crash(struct screen *screen, const struct trace_report *report, struct function_names *names);

/* Which threads went on without being followed: where, and why. */
void report_left(struct screen *screen, const struct trace_report *report, struct function_names *names);

/* Functions whose calls were looked at closely: how often, how long, with what. At most `limit` of each process. */
void report_details_show(struct report_details *details, struct screen *screen, size_t limit);

/* Probes: how often each was passed, and with what. At most `limit` of each process. */
void report_probes_show(const struct trace_report *report, struct screen *screen, size_t limit);

/* System calls: how often, how many failed, how long they took. At most `limit` of them. */
void report_system_calls_show(struct screen *screen, const struct trace_report *report, size_t limit);

/*
 * Events of the kernel: how many of each source, how often, and what was lost. Those of --sched are left out, for
 * report_sched_show() tells what follows from them, unless they are asked for.
 */
void report_kernel_show(const struct view_trace *trace, struct screen *screen, bool with_sched);

/* With --sched: how long threads ran, waited for a CPU, and for something else. At most `limit` of them. */
void report_sched_show(const struct view_trace *trace, struct screen *screen, size_t limit);

/* Stacks that the kernel took, of profiles and others: functions by how many they are in. At most `limit` of each. */
void report_samples_show(struct screen *screen, struct trace_report *report, size_t limit);

/* Two traces side by side: what both are of, and at most `limit` changes. */
void report_changes_show(struct screen *screen, const struct report_diff *diff, const char *before_path,
                         const char *after_path, size_t limit);

#endif
