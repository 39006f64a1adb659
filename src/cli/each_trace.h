/* SPDX-License-Identifier: MIT */
/* Commands that show several traces, one after the other. */
#ifndef GAIT_CLI_EACH_TRACE_H
#define GAIT_CLI_EACH_TRACE_H

#include "cli/command.h"

#include <stdbool.h>
#include <stddef.h>

/* So many words may name some. */
#define EACH_TRACE_MAX 256u

struct each_trace {
    enum command_status (*show)(const struct command_call *call, const char *path, void *context);
    void *context;
    bool has_heads; /* a line with the path above each, if there are several */
};

/*
 * Shows all of them, also behind one that cannot be shown. What is wrong with one is said at once, as long as others
 * follow. The first status that is none of success.
 */
enum command_status each_trace_show(const struct command_call *call, const char *const *paths, size_t count,
                                    const struct each_trace *each);

#endif
