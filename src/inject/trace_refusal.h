/* SPDX-License-Identifier: MIT */
/* Why the kernel does not let us trace a process: it says EPERM for all reasons, but shows enough to find out which. */
#ifndef GAIT_INJECT_TRACE_REFUSAL_H
#define GAIT_INJECT_TRACE_REFUSAL_H

#include "gait/error.h"

#include <sys/types.h>

/* Fills in the error, with what to do, and returns -EPERM. */
int trace_refusal_explain(pid_t pid, struct gait_error *err);

#endif
