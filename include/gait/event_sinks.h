/* SPDX-License-Identifier: MIT */
/*
 * Ready-made places for the stalker's events to go to: a queue that a thread of its own empties, and a summary that
 * counts calls by function. Each can take the events of many threads at once.
 */
#ifndef GAIT_EVENT_SINKS_H
#define GAIT_EVENT_SINKS_H

#include "gait/error.h"
#include "gait/stalker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a queue ----------------------------------------------------------------------------------------------------- */

struct gait_event_queue;

/* Zeroes mean the default everywhere but in size_bytes and receive. */
struct gait_event_queue_options {
    size_t size_bytes;
    size_t capacity;            /* events; 0: 16384 */
    unsigned drain_interval_ms; /* 0: 250 */
    bool manual;                /* nothing is received but by gait_event_queue_drain */
    bool block_when_full;       /* a followed thread waits for room; else its events are dropped and counted */
    /*
     * Gets events in order, in batches, and how many were lost before them. Called on the queue's own thread, or by
     * gait_event_queue_drain; one call at a time.
     */
    void (*receive)(void *context, const struct gait_event *events, size_t count, uint64_t lost);
    void *context;
};

/* -EINVAL: no receiver, or options that are not known; -ENOMEM, -EAGAIN: no memory or no thread to be had. */
int gait_event_queue_create(const struct gait_event_queue_options *options, struct gait_event_queue **queue_out,
                            struct gait_error *err);

/* Hands over what is left and gives everything back. No thread may be followed with it any more. NULL is fine. */
void gait_event_queue_destroy(struct gait_event_queue *queue);

/* For gait_follow_options.sink. Lives as long as the queue. */
const struct gait_event_sink *gait_event_queue_sink(struct gait_event_queue *queue);

/* Hands over what is in the queue now. Not from the receiver. */
void gait_event_queue_drain(struct gait_event_queue *queue);

/* How many events were dropped because the queue was full. */
uint64_t gait_event_queue_lost(struct gait_event_queue *queue);

/* ---- a summary of calls ------------------------------------------------------------------------------------------ */

struct gait_call_summary;

/* -ENOMEM. */
int gait_call_summary_create(struct gait_call_summary **summary_out, struct gait_error *err);

/* No thread may be followed with it any more. NULL is fine. */
void gait_call_summary_destroy(struct gait_call_summary *summary);

/* For gait_follow_options.sink, with GAIT_EVENT_CALL among the events. Lives as long as the summary. */
const struct gait_event_sink *gait_call_summary_sink(struct gait_call_summary *summary);

/*
 * Calls visit for each function that was called, with how often, in no order. Threads that run meanwhile wait when they
 * have calls to add. gait_stalker_flush before brings in the calling thread's last ones.
 */
void gait_call_summary_read(struct gait_call_summary *summary,
                            void (*visit)(void *context, uint64_t target, uint64_t count), void *context);

#ifdef __cplusplus
}
#endif

#endif
