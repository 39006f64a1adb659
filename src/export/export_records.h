/* SPDX-License-Identifier: MIT */
/*
 * What threads did besides calls, as formats want it: times in nanoseconds since the recording began, and only what was
 * in the wanted range of time. One thread at a time.
 */
#ifndef GAIT_EXPORT_EXPORT_RECORDS_H
#define GAIT_EXPORT_EXPORT_RECORDS_H

#include "export/export_format.h"
#include "trace/kernel_events.h"

/* ---- system calls that were made --------------------------------------------------------------------------------- */

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

/* ---- static probes that were passed ------------------------------------------------------------------------------ */

struct export_probe {
    size_t thread;    /* index */
    const char *name; /* "provider:name" */
    const char *arguments;
    uint64_t time_ns;
};

struct export_probe_receiver {
    /* Nonzero: no more is emitted. */
    int (*probe)(void *context, const struct export_probe *probe);
    void *context;
};

/* Of a thread, in their order. -ENOMEM, explained; or what the receiver said. */
MUST_USE int export_probes_read(const struct export_job *job, size_t thread,
                                const struct export_probe_receiver *receiver, struct gait_error *err);

/*
 * Of all threads of the job, one after the other, behind what was read with that result: the first error counts, and
 * nothing is emitted to a receiver that has enough.
 */
MUST_USE int export_probes_behind(const struct export_job *job, int result,
                                  const struct export_probe_receiver *receiver, struct gait_error *err);

/* ---- the kernel's events ----------------------------------------------------------------------------------------- */

/*
 * Of the wanted threads, of all CPUs, by time. Whatever thread they are of: the kernel tells of those that were not
 * recorded, too.
 */
struct export_kernel_event {
    const struct kernel_sources *sources; /* the same ones for all */
    const struct kernel_source *source;
    const struct kernel_event *event;
    const char *thread; /* its name; "": not known */
    uint64_t time_ns;
};

struct export_kernel_receiver {
    /* Nonzero: no more is emitted. */
    int (*event)(void *context, const struct export_kernel_event *event);
    void *context;
};

/*
 * That a trace has none is no error. A stream that is cut off or damaged is read up to there: as with calls, that is no
 * failure, but err says so, unless it already says something that matters more. Explains errors; or what the receiver
 * said.
 */
MUST_USE int export_kernel_read(const struct export_job *job, const struct export_kernel_receiver *receiver,
                                struct gait_error *err);

/* The same, behind what was read with that result: the first error counts, and nothing is emitted to a receiver that
 * has enough. */
MUST_USE int export_kernel_behind(const struct export_job *job, int result,
                                  const struct export_kernel_receiver *receiver, struct gait_error *err);

/*
 * What a stack that was taken with an event counts for where stacks are added up: of a profile the nanoseconds from one
 * sample to the next, so that it is like time that was measured; of all other sources 1.
 */
uint64_t export_kernel_weight(const struct kernel_source *source);

#endif
