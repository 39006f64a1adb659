/* SPDX-License-Identifier: MIT */
/*
 * All of a trace in numbers, in one pass: what its threads did, calls and their times by group, details, how processes
 * died. Threads of the trace are read by several threads at once. What is damaged is counted as far as it is good, and
 * told. Memory grows with the number of threads and functions, not of events.
 */
#ifndef GAIT_VIEW_TRACE_REPORT_H
#define GAIT_VIEW_TRACE_REPORT_H

#include "trace/detail_counts.h"
#include "trace/probe_counts.h"
#include "trace/system_call_sums.h"
#include "trace/trace_crash.h"
#include "view/call_groups.h"
#include "view/call_statistics.h"
#include "view/guessed_times.h"
#include "view/thread_tally.h"

struct trace_report_options {
    enum call_group_kind by;
    const char *filter;            /* as of call_groups_init; NULL: none */
    struct symbolizer_watch watch; /* who is told how far the reading of debug information is */
    unsigned worker_count;         /* 0: as many as there are CPUs */
};

/* What there is of a process besides events. */
struct report_process {
    struct detail_counts details;
    struct probe_counts probes;
    struct system_call_sums system_calls;
    uint64_t begun_time; /* of the last one that was told when it was made */
    uint64_t begun_number;
    bool has_crash;
    struct trace_crash crash; /* if it said how it died */
    struct gait_error err;    /* what is wrong with details; its text is empty if nothing is */
};

struct trace_report {
    const struct view_trace *trace;
    struct thread_tally *threads;     /* as in the trace */
    struct report_process *processes; /* the same */
    struct call_groups groups;
    struct call_statistics_table statistics; /* by the number of the group; there are as many as groups */
    struct call_statistics all;              /* of them together; but for its total, which is by group only */
    struct system_call_sums system_calls;    /* of all processes */
    bool has_times;                          /* ends of calls were recorded, so that times mean something */
    bool has_guesses;                        /* some of them are guesses: */
    enum guessed_times guesses;
};

/* Reads all of the trace, which must outlive the report. -ENOMEM, explained. */
MUST_USE int trace_report_read(struct trace_report *report, const struct view_trace *trace,
                               const struct trace_report_options *options, struct gait_error *err);
void trace_report_free(struct trace_report *report);

/* Of all threads. */
uint64_t trace_report_lost_bytes(const struct trace_report *report);

#endif
