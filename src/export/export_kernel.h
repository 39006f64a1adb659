/* SPDX-License-Identifier: MIT */
/*
 * The kernel's events as formats want them: times in nanoseconds since the recording began, and only those of the
 * wanted range of time and of the wanted threads, of all CPUs, by time. Whatever thread they are of: the kernel tells
 * of those that were not recorded, too. One thread at a time.
 */
#ifndef GAIT_EXPORT_EXPORT_KERNEL_H
#define GAIT_EXPORT_EXPORT_KERNEL_H

#include "export/export_format.h"
#include "trace/kernel_events.h"

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
