/* SPDX-License-Identifier: MIT */
/*
 * Sums over all calls of a trace, by function: one pass, in which threads of the trace are read side by side, without
 * rows. After it is made it does not change.
 */
#ifndef GAIT_QUERY_CALL_TOTALS_H
#define GAIT_QUERY_CALL_TOTALS_H

#include "query/query_source.h"

struct call_total {
    uint64_t calls;
    uint64_t total;  /* ticks, as the others; what is within another call of the same function not again */
    uint64_t summed; /* with those */
    uint64_t self;
    uint64_t shortest;
    uint64_t longest;
    uint64_t entry_only; /* of the calls: no time is known of them */
};

/* Whether there is a time at all. */
static inline bool call_total_has_times(const struct call_total *total)
{
    return total->calls != total->entry_only;
}

/* Of the calls whose time is known, of which there are some. */
static inline uint64_t call_total_timed_calls(const struct call_total *total)
{
    return total->calls - total->entry_only;
}

/* Adds how long a call was on its stack, in all its parts, which has ended. */
static inline void call_total_add_time(struct call_total *total, uint64_t ticks)
{
    total->shortest = ticks < total->shortest ? ticks : total->shortest;
    total->longest = ticks > total->longest ? ticks : total->longest;
}

/* Adds a call of so many ticks, of which some are of calls that it made; or a part of one, which took no time before
 * it. */
static inline void call_total_add(struct call_total *total, uint64_t ticks, uint64_t inner, bool is_outermost)
{
    total->calls++;
    total->summed += ticks;
    total->self += ticks - inner;
    total->total += is_outermost ? ticks : 0;
}

struct call_totals {
    struct call_total *totals; /* by the number of the function */
    size_t count;
    bool has_times; /* else only calls are known */
};

/* Reads the trace; what could not be read is noted in the source. Without times it is faster. -ENOMEM. */
MUST_USE int call_totals_create(struct call_totals **totals_out, struct query_source *source, bool has_times);
void call_totals_destroy(struct call_totals *totals);

#endif
