/* SPDX-License-Identifier: MIT */
/*
 * The calls of several threads of a trace, in the order of time. Memory is bounded by a chunk of each thread that was
 * alive at the same time.
 */
#ifndef GAIT_VIEW_CALL_MERGE_H
#define GAIT_VIEW_CALL_MERGE_H

#include "view/call_tracker.h"
#include "view/view_trace.h"

/* As struct call_receiver, with the index of the thread. */
struct merged_receiver {
    int (*begin)(void *context, size_t thread, const struct view_call *call);
    int (*end)(void *context, size_t thread, const struct view_call *call);
    int (*gap)(void *context, size_t thread, uint64_t time, uint64_t lost_bytes);
    void *context;
    uint64_t skip_before; /* as of call_reader_skip; 0: all is told */
};

/* A time before anything that the thread with that index did, in most cases shortly before; 0: it cannot be read. */
uint64_t call_merge_earliest(const struct view_trace *trace, size_t thread);

/*
 * Tells all calls of the threads with these indexes; at one time, in the order of the list. Result as of
 * call_reader_read: the first error, but threads that can be read were told.
 */
MUST_USE int call_merge_read(const struct view_trace *trace, const size_t *threads, size_t count,
                             const struct merged_receiver *receiver, struct gait_error *err);

#endif
