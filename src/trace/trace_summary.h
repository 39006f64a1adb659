/* SPDX-License-Identifier: MIT */
/*
 * All of a trace, counted: events by thread and kind, losses, calls by function. What is damaged is counted as far as
 * it is good, and told. Memory grows with the number of threads and functions, not of events. One thread at a time.
 */
#ifndef GAIT_TRACE_TRACE_SUMMARY_H
#define GAIT_TRACE_TRACE_SUMMARY_H

#include "trace/call_counts.h"
#include "trace/event_names.h"
#include "trace/manifest.h"
#include "trace/trace_files.h"

/* What a thread did. */
struct thread_summary {
    const struct trace_file *file;
    uint64_t counts[EVENT_NAME_COUNT]; /* by the bit of the kind */
    uint64_t lost_bytes;
    struct gait_error err; /* its text is empty if all could be read */
};

struct process_summary {
    uint32_t pid;
    uint32_t image;
    struct modules modules;
    struct call_counts calls;
};

struct trace_summary {
    struct trace_files files;
    struct manifest manifest;
    struct thread_summary *threads;
    size_t thread_count;
    struct process_summary *processes;
    size_t process_count;
    uint64_t ended_ns; /* CLOCK_MONOTONIC, when the last stream was ended; 0: not known */
};

/* Reads all of the trace in that folder. Explains errors: no trace, no manifest, no memory. */
MUST_USE int trace_summary_read(struct trace_summary *summary, const char *path, struct gait_error *err);
void trace_summary_free(struct trace_summary *summary);

#endif
