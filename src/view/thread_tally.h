/* SPDX-License-Identifier: MIT */
/* What a thread of a trace did, in numbers: events by kind, what is missing, and its last calls. One thread at a time.
 */
#ifndef GAIT_VIEW_THREAD_TALLY_H
#define GAIT_VIEW_THREAD_TALLY_H

#include "gait/error.h"
#include "gait/stalker.h"
#include "trace/event_names.h"

#include <stddef.h>
#include <stdint.h>

#define LAST_CALLS_MAX 10

struct trace_events_end;
struct trace_span;

/* A call, and between which times it happened. */
struct last_call {
    struct gait_event event;
    uint64_t first_time;
    uint64_t last_time;
};

/* All zeroes: it did nothing. */
struct thread_tally {
    uint64_t counts[EVENT_NAME_COUNT]; /* by the bit of the kind */
    uint64_t lost_bytes;
    uint64_t loss_count;                         /* places where they are missing */
    uint64_t gap_count;                          /* places where records were left out, since nobody asked for them */
    struct last_call last_calls[LAST_CALLS_MAX]; /* and returns: number n is at n % LAST_CALLS_MAX */
    uint64_t last_count;                         /* of both: those that were there, and may be there still */
    uint64_t ended_ns;                           /* CLOCK_MONOTONIC, when the stream was ended; 0: not known */
    struct gait_error err;                       /* its text is empty if all could be read */
};

/* The next events. */
void thread_tally_take(struct thread_tally *tally, const struct gait_event *events, size_t count,
                       const struct trace_span *span);
void thread_tally_lose(struct thread_tally *tally, uint64_t bytes);

/* How reading ended, if the stream could be opened; what is wrong is put into words. */
void thread_tally_finish(struct thread_tally *tally, const struct trace_events_end *end);

#endif
