/* SPDX-License-Identifier: MIT */
/*
 * How often each function was called in each thread of a trace: one pass, in which threads are read side by side.
 * Where functions were hooked, their records are counted as they are, without making events of them.
 */
#ifndef GAIT_QUERY_CALL_TALLY_H
#define GAIT_QUERY_CALL_TALLY_H

#include "query/query_source.h"

struct call_tally_count {
    size_t thread; /* index */
    uint32_t function;
    uint64_t calls;
};

struct call_tally {
    struct call_tally_count *counts; /* by thread */
    size_t count;
};

/*
 * Counts the calls of threads, by their index; NULL: of all. What could not be read is noted in the source. -ENOMEM;
 * it is to be given back also then.
 */
MUST_USE int call_tally_init(struct call_tally *tally, struct query_source *source, const bool *threads);
void call_tally_deinit(struct call_tally *tally);

#endif
