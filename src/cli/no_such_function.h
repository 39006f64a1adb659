/* SPDX-License-Identifier: MIT */
/* What to say when patterns mean no function of a trace: the nearest names that there are. Stateless. */
#ifndef GAIT_CLI_NO_SUCH_FUNCTION_H
#define GAIT_CLI_NO_SUCH_FUNCTION_H

#include "gait/error.h"

struct view_functions;

/* Explains; `functions` are those that were called. Always -ENOENT. */
int no_such_function(struct view_functions *functions, const char *pattern, struct gait_error *err);

#endif
