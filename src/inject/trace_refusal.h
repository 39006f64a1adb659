/* SPDX-License-Identifier: MIT */
/* Why the kernel does not let us trace a process: it says EPERM for all reasons, but shows enough to find out which. */
#ifndef GAIT_INJECT_TRACE_REFUSAL_H
#define GAIT_INJECT_TRACE_REFUSAL_H

#include "gait/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Fills in the error, with what to do, and returns -EPERM. */
int trace_refusal_explain(pid_t pid, struct gait_error *err);

/* The tracer of a process, if it is not gait: "process 7 (gdb)". False: there is none. */
bool trace_refusal_tracer(pid_t pid, char *text_out, size_t text_bytes);

#endif
