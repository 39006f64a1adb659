/* SPDX-License-Identifier: MIT */
/*
 * The kernel's folder of tracepoints. Where it is not mounted, it is mounted for us alone: nothing shows in the
 * list of mounts, and it goes when we do. One thread at a time.
 */
#ifndef GAIT_KERNEL_TRACEFS_H
#define GAIT_KERNEL_TRACEFS_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stddef.h>

/* A path that leads there; a constant once it was found. Explains errors: no privilege, a kernel without tracing. */
MUST_USE int tracefs_find(const char **path_out, struct gait_error *err);

/* Reads all of a file in it; the caller frees the text, which is ended by a NUL. -ENOENT: there is none. */
MUST_USE int tracefs_read(const char *name, char **text_out, size_t *size_out, struct gait_error *err);

#endif
