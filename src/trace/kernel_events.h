/* SPDX-License-Identifier: MIT */
/*
 * The kernel's events of a trace, of all CPUs, by time. Nothing in the files is trusted. Memory is bounded by the
 * largest chunk of each CPU. One thread at a time.
 */
#ifndef GAIT_TRACE_KERNEL_EVENTS_H
#define GAIT_TRACE_KERNEL_EVENTS_H

#include "trace/kernel_sources.h"
#include "trace/trace_files.h"

/* What is pointed to stays until the next one is asked for. */
struct kernel_event {
    uint64_t time; /* the counter */
    uint32_t cpu;
    uint32_t source;
    uint32_t pid;
    uint32_t tid;
    const uint8_t *raw;
    size_t raw_bytes;
    const uint64_t *kernel_frames;
    size_t kernel_frame_count;
    const uint64_t *user_frames;
    size_t user_frame_count;
};

/* Takes a record apart. The size of it; 0: it is none. The bytes are aligned to 8. */
size_t kernel_record_read(const uint8_t *bytes, size_t available, struct kernel_event *event_out);

struct kernel_events_cpu;

struct kernel_events {
    struct kernel_events_cpu *cpus;
    size_t cpu_count;
    struct kernel_events_cpu *last; /* whose event was handed out */
    uint64_t lost_count;            /* as chunks say, so far */
    uint64_t bad_bytes;             /* that are no records */
    struct gait_error problem;      /* the first stream that is not whole; code 0: none */
};

/* The trace must outlive it. -ENOENT: it has no events of the kernel; else it is explained. */
MUST_USE int kernel_events_open(struct kernel_events *events, const struct trace_files *files, struct gait_error *err);
void kernel_events_close(struct kernel_events *events);

/* The next one by time. False: there are no more, and events->problem says whether something is missing. */
MUST_USE bool kernel_events_next(struct kernel_events *events, struct kernel_event *event_out);

/* Passes over what happened before that time, where that is quick; some of it may come all the same. */
void kernel_events_skip(struct kernel_events *events, uint64_t before);

/* Reads the definitions of the trace. -ENOENT: there are none. */
MUST_USE int kernel_events_sources(const struct trace_files *files, struct kernel_sources *sources_out,
                                   struct gait_error *err);

#endif
