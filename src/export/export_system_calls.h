/* SPDX-License-Identifier: MIT */
/*
 * The system calls of threads as formats want them: times in nanoseconds since the recording began, and only those that
 * were made in the wanted range of time. One thread at a time.
 */
#ifndef GAIT_EXPORT_EXPORT_SYSTEM_CALLS_H
#define GAIT_EXPORT_EXPORT_SYSTEM_CALLS_H

#include "export/export_format.h"

struct export_system_call {
    size_t thread;    /* index */
    const char *name; /* "openat" */
    const char *text; /* all of it, as strace writes it */
    uint64_t begin_ns;
    uint64_t end_ns; /* the same as begin_ns, if it did not return */
    bool has_returned;
    int64_t result;
};

struct export_system_call_receiver {
    /* Nonzero: no more is emitted. */
    int (*call)(void *context, const struct export_system_call *call);
    void *context;
};

/* Of a thread, in the order in which they returned. -ENOMEM, explained; or what the receiver said. */
MUST_USE int export_system_calls_read(const struct export_job *job, size_t thread,
                                      const struct export_system_call_receiver *receiver, struct gait_error *err);

/* Of all threads of the job, one after the other. */
MUST_USE int export_system_calls_read_all(const struct export_job *job,
                                          const struct export_system_call_receiver *receiver, struct gait_error *err);

/* The same, behind calls that were read with that result: the first error counts, and nothing is told to who has
 * enough. */
MUST_USE int export_system_calls_behind(const struct export_job *job, int result,
                                        const struct export_system_call_receiver *receiver, struct gait_error *err);

#endif
