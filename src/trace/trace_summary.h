/* SPDX-License-Identifier: MIT */
/*
 * All of a trace, counted: events by thread and kind, losses, calls by function. What is damaged is counted as far as
 * it is good, and told. Memory grows with the number of threads and functions, not of events. One thread at a time.
 */
#ifndef GAIT_TRACE_TRACE_SUMMARY_H
#define GAIT_TRACE_TRACE_SUMMARY_H

#include "gait/stalker.h"
#include "trace/call_counts.h"
#include "trace/detail_counts.h"
#include "trace/event_names.h"
#include "trace/manifest.h"
#include "trace/trace_crash.h"
#include "trace/trace_files.h"

#define LAST_CALLS_MAX 10

/* A call, and between which times it happened. */
struct last_call {
    struct gait_event event;
    uint64_t first_time;
    uint64_t last_time;
};

/* What a thread did. */
struct thread_summary {
    const struct trace_file *file;
    uint64_t counts[EVENT_NAME_COUNT]; /* by the bit of the kind */
    uint64_t lost_bytes;
    uint64_t gap_count;                          /* places where records were left out, since nobody asked for them */
    struct last_call last_calls[LAST_CALLS_MAX]; /* and returns: number n is at n % LAST_CALLS_MAX */
    uint64_t call_count;                         /* of both */
    struct gait_error err;                       /* its text is empty if all could be read */
};

struct process_summary {
    uint32_t pid;
    uint32_t image;
    struct modules modules;
    struct call_counts calls;
    struct detail_counts details;
    bool has_crash;
    struct trace_crash crash; /* if it said how it died */
};

struct trace_summary {
    struct trace_files files;
    struct manifest manifest;
    struct thread_summary *threads;
    size_t thread_count;
    struct process_summary *processes;
    size_t process_count;
    struct gait_error detail_err; /* what is wrong with details; its text is empty if nothing is */
    uint64_t ended_ns;            /* CLOCK_MONOTONIC, when the last stream was ended; 0: not known */
};

/* Reads all of the trace in that folder. Explains errors: no trace, no manifest, no memory. */
MUST_USE int trace_summary_read(struct trace_summary *summary, const char *path, struct gait_error *err);
void trace_summary_free(struct trace_summary *summary);

#endif
