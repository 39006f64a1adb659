/* SPDX-License-Identifier: MIT */
/*
 * The trace that is meant where none is named: the last one that was recorded into ./traces, where recordings go if
 * nothing else is said. One thread at a time.
 */
#ifndef GAIT_CLI_LAST_TRACE_H
#define GAIT_CLI_LAST_TRACE_H

#include "gait/error.h"

#include <stdbool.h>

/*
 * Its path, which stays until the next call, and which is said on standard error. NULL: there is none, and the error
 * says that TRACE is missing.
 */
const char *last_trace_take(const char *command, struct gait_error *err);

/* Whether a word may be the path of a trace: something is there. Else it is the next argument, or a mistake. */
bool last_trace_is_named_by(const char *word);

#endif
