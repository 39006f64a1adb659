/* SPDX-License-Identifier: MIT */
/*
 * The hooked functions that a thread is in at a time, without reading all that came before: for who begins to read
 * there. Memory grows with how deep calls go, and a little with chunks. Callable from any thread.
 */
#ifndef GAIT_TRACE_OPEN_FUNCTIONS_H
#define GAIT_TRACE_OPEN_FUNCTIONS_H

#include "trace/trace_blocks.h"
#include "trace/trace_files.h"

struct open_function {
    uint64_t location; /* where it begins */
    uint64_t time;     /* the counter: when it was entered */
    uint32_t depth;    /* as its record has it */
};

struct open_functions {
    struct open_function *functions; /* the outermost first */
    size_t count;
};

/*
 * Those that are open where the chunks end that trace_events_skip passes over. -ENOTSUP: that cannot be said, since the
 * thread has other records, or something is odd; -ENOMEM. After an error nothing has to be given back.
 */
MUST_USE int open_functions_find(struct open_functions *open, int folder, const struct trace_file *pieces,
                                 size_t piece_count, const struct trace_blocks *blocks, uint64_t before);
void open_functions_deinit(struct open_functions *open);

#endif
