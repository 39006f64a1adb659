/* SPDX-License-Identifier: MIT */
/*
 * The calls of a thread as formats want them: functions by number, times in nanoseconds since the recording began, and
 * only what is in the wanted range of time; a call that goes beyond it is cut off there. So totals are the same in all
 * formats. One thread at a time.
 */
#ifndef GAIT_EXPORT_EXPORT_CALLS_H
#define GAIT_EXPORT_EXPORT_CALLS_H

#include "export/export_format.h"
#include "view/call_tracker.h"

struct export_call {
    size_t thread;     /* index */
    uint32_t function; /* number */
    uint32_t depth;    /* how many calls that are told are open around it */
    uint32_t flags;    /* of enum call_flag */
    uint64_t site;     /* of the call instruction; 0: not known */
    uint64_t begin_ns;
    uint64_t end_ns;   /* 0: it has not ended */
    uint64_t inner_ns; /* of end_ns - begin_ns: spent in calls that it made */
    uint64_t begin;    /* the counter */
    uint64_t ticks;    /* of the counter, until it ended */
    uint64_t inner_ticks;
    uint64_t earlier_ticks; /* of one that was resumed: how long its parts before this one took */
};

struct export_receiver {
    /* As of struct call_receiver. Nonzero from any of them: no more is told. NULL: that does not matter. */
    /* Of a call of which only the entry is known, CALL_ENTRY_ONLY is set already when it begins. */
    int (*begin)(void *context, const struct export_call *call);
    int (*end)(void *context, const struct export_call *call);
    int (*gap)(void *context, size_t thread, uint64_t time_ns, uint64_t lost_bytes);
    void *context;
};

/* Tells all calls of a thread, by its index in the trace. Result as of call_reader_read. */
MUST_USE int export_calls_read(const struct export_job *job, size_t thread, const struct export_receiver *receiver,
                               struct gait_error *err);

/* Of all threads of the job, one after the other. The first error, but all that can be read is told. */
MUST_USE int export_calls_read_all(const struct export_job *job, const struct export_receiver *receiver,
                                   struct gait_error *err);

#endif
