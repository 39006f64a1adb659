/* SPDX-License-Identifier: MIT */
/*
 * How often each function was called, or how many events of each kind there are in it, in each thread of a trace: one
 * pass, in which threads are read side by side. Of hooked functions what the recorder counted is taken, where that is
 * there; else their records are counted as they are, without making events of them.
 */
#ifndef GAIT_QUERY_EVENT_TALLY_H
#define GAIT_QUERY_EVENT_TALLY_H

#include "query/query_source.h"

enum event_tally_subject {
    EVENT_TALLY_CALLS,  /* by the function that is called */
    EVENT_TALLY_EVENTS, /* by the function in which they happen, and their kind */
};

struct event_tally_count {
    size_t thread; /* index */
    uint32_t function;
    uint32_t kind; /* of enum gait_event_kind; of calls: 0 */
    uint64_t count;
};

struct event_tally {
    struct event_tally_count *counts; /* by thread */
    size_t count;
};

/*
 * Counts those of threads, by their index; NULL: of all. What could not be read is noted in the source. -ENOMEM; it is
 * to be given back also then.
 */
MUST_USE int event_tally_init(struct event_tally *tally, struct query_source *source, enum event_tally_subject subject,
                              const bool *threads);
void event_tally_deinit(struct event_tally *tally);

#endif
