/* SPDX-License-Identifier: MIT */
/*
 * The static probes that threads passed, as formats want them: times in nanoseconds since the recording began, and only
 * those in the wanted range of time. One thread at a time.
 */
#ifndef GAIT_EXPORT_EXPORT_PROBES_H
#define GAIT_EXPORT_EXPORT_PROBES_H

#include "export/export_format.h"

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

#endif
