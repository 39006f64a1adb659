/* SPDX-License-Identifier: MIT */
/*
 * The events of some threads of a trace, one thread after the other, a chunk at a time, so that a cursor that pulls
 * rows keeps those of a chunk only. One thread at a time; several scans at once are fine where each has its own source.
 */
#ifndef GAIT_QUERY_EVENT_SCAN_H
#define GAIT_QUERY_EVENT_SCAN_H

#include "query/query_source.h"
#include "trace/trace_events.h"

struct event_scan {
    const struct view_trace *trace;
    /* Nonzero from process: no more of this thread. */
    struct trace_events_receiver receiver;
    /* Whether a thread is of interest; NULL: all are. */
    bool (*wants)(void *context, size_t thread);
    /* A thread begins, and ends: behind its last event. NULL: that does not matter. */
    void (*begin)(void *context, size_t thread);
    void (*end)(void *context, size_t thread);
    void *context;        /* also of the receiver */
    uint64_t skip_before; /* the counter: chunks in which there is nothing later are not read */

    size_t next_thread;
    size_t thread; /* that is read */
    struct trace_events_walk *walk;
    int problem; /* the first one, and: */
    struct gait_error why;
};

/* Reads a chunk, of the thread or of the next one that is wanted. False: there are no more. */
MUST_USE bool event_scan_step(struct event_scan *scan);

/* Reads all of one thread. */
void event_scan_read(struct event_scan *scan, size_t thread);

/* Gives back what it has; also before its end. */
void event_scan_deinit(struct event_scan *scan);

#endif
