/* SPDX-License-Identifier: MIT */
/*
 * What the kernel says of its tracepoints: which there are, and what their records consist of. By libtracefs and
 * libtraceevent; in builds without them nothing is known. One thread at a time.
 */
#ifndef GAIT_KERNEL_TRACEPOINT_FORMAT_H
#define GAIT_KERNEL_TRACEPOINT_FORMAT_H

#include "kernel/source.h"

/* Calls visit with "tracepoint:GROUP:NAME" for each that matches both patterns. */
MUST_USE int tracepoint_list(const char *group, const char *name, source_visit *visit, void *context,
                             struct gait_error *err);

/* Fills in the number, the fields and the format of one. -ENOENT: there is none; -ENOTSUP: built without. */
MUST_USE int tracepoint_describe(const char *group, const char *name, struct source_probe *probe,
                                 struct gait_error *err);

#endif
