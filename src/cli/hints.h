/* SPDX-License-Identifier: MIT */
/* What to say when a user has named what there is not: what is wrong, and what may have been meant. Stateless. */
#ifndef GAIT_CLI_HINTS_H
#define GAIT_CLI_HINTS_H

#include "gait/error.h"
#include "syscalls/system_call_set.h"

struct view_functions;

/*
 * Adds to an error of query_run about a table or column that does not exist what there is that is like it, in the
 * tables that the query names, or where to look. Other errors stay as they are.
 */
void query_hint_add(struct gait_error *err, const char *sql);

/* A set of system calls that cannot be read. Fills in the error; `option` is what the text was given to: "-e trace=".
 */
void system_call_hint(const char *option, const struct system_call_set_fault *fault, struct gait_error *err);

/* Patterns that mean no function of a trace. Explains; `functions` are those that were called. Always -ENOENT. */
int no_such_function(struct view_functions *functions, const char *pattern, struct gait_error *err);

#endif
