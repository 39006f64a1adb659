/* SPDX-License-Identifier: MIT */
/*
 * The kernel's events in Perfetto's format: who runs on which CPU and who woke whom as the kernel's own tracer tells
 * it, so that viewers show when threads ran and waited; stacks as samples of a profiler; all else as instants of
 * threads, with the fields. Memory grows with threads and with distinct stacks. One thread at a time.
 */
#ifndef GAIT_EXPORT_PERFETTO_KERNEL_H
#define GAIT_EXPORT_PERFETTO_KERNEL_H

#include "export/export_format.h"
#include "export/protobuf_writer.h"

/* Behind what was written with that result, as export_kernel_behind. */
MUST_USE int perfetto_kernel_behind(const struct export_job *job, int result, struct protobuf_writer *writer,
                                    struct gait_error *err);

#endif
