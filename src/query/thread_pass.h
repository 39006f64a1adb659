/* SPDX-License-Identifier: MIT */
/* One pass over the threads of a trace, several of which are read at once where there are processors for it. */
#ifndef GAIT_QUERY_THREAD_PASS_H
#define GAIT_QUERY_THREAD_PASS_H

#include "query/query_source.h"

#define THREAD_PASS_WORKERS 16

struct thread_pass {
    const struct view_trace *trace;
    const bool *wanted; /* by the index of the thread; NULL: all are */
    /* Reads one; workers are numbered from 0 on, each does one at a time. Nonzero: that worker has enough. */
    int (*read)(void *context, unsigned worker, size_t thread);
    void *context;
};

/* Returns when all are read. The first worker's result that is not 0. */
MUST_USE int thread_pass_run(const struct thread_pass *pass);

#endif
