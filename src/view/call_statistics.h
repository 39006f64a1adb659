/* SPDX-License-Identifier: MIT */
/*
 * What is known of some calls - those of a function, of a module, of a thread - without keeping them: how many, how
 * long, how they ended. All calls count, also those whose end was not seen, as long as they are known to have lasted;
 * so the times of all functions without those that they called add up to the time that threads were in functions. Times
 * are ticks of the counter. One thread at a time.
 */
#ifndef GAIT_VIEW_CALL_STATISTICS_H
#define GAIT_VIEW_CALL_STATISTICS_H

#include "base/attributes.h"
#include "view/call_tracker.h"
#include "view/duration_histogram.h"

#include <stdbool.h>

/* All zeroes: there are none. */
struct call_statistics {
    uint64_t calls; /* that ended, or began and have not ended */
    uint64_t open;  /* these */
    uint64_t total; /* with what they called; what is inside of another one of these calls does not count again */
    uint64_t self;  /* without what they called */
    uint64_t sum;   /* of all times, also of those that are inside of others */
    uint64_t shortest;
    uint64_t longest;
    uint64_t guessed; /* of enum call_flag: how many there were with each */
    uint64_t cut;
    uint64_t unwound;
    uint64_t no_return;
    uint64_t entry_only; /* these have no duration: no time above, and nothing below, is of them */
    uint64_t suspended;  /* and gone on later, or not; or in a process that was forked within them */
    struct duration_histogram durations;
};

void call_statistics_deinit(struct call_statistics *statistics);

/* A call begins, or goes on. */
static inline void call_statistics_begin(struct call_statistics *statistics, const struct view_call *call)
{
    statistics->calls += !(call->flags & CALL_RESUMED);
    statistics->open++;
}

/* One that is suspended has ended by that, though its last part was not known as the last. -ENOMEM. */
MUST_USE int call_statistics_end_suspended(struct call_statistics *statistics, const struct view_call *call);

/* The innermost of those that began, or its part. -ENOMEM: its time is missing in percentiles. */
MUST_USE int call_statistics_end(struct call_statistics *statistics, const struct view_call *call);

/* Adds calls that were counted elsewhere. -ENOMEM. */
MUST_USE int call_statistics_merge(struct call_statistics *statistics, const struct call_statistics *other);

/* Whether the times say anything: not if of none of the calls it is known how long it took. */
static inline bool call_statistics_have_times(const struct call_statistics *statistics)
{
    return statistics->calls != statistics->entry_only;
}

/* Of all times that are known; 0 without such calls. */
double call_statistics_average(const struct call_statistics *statistics);

/* The time that so many of a hundred calls did not take longer than: wrong by at most 1/64 of it. */
uint64_t call_statistics_percentile(const struct call_statistics *statistics, double percent);

/* Some of them, by number. All zeroes: there are none. */
struct call_statistics_table {
    struct call_statistics *all;
    size_t count; /* those behind it have no calls */
    size_t capacity;
};

void call_statistics_table_deinit(struct call_statistics_table *table);

/* Those with that number: good until another number is asked for. NULL: there is no memory. */
struct call_statistics *call_statistics_table_obtain(struct call_statistics_table *table, size_t number);

/* Adds all of another table, by the same numbers. -ENOMEM. */
MUST_USE int call_statistics_table_merge(struct call_statistics_table *table,
                                         const struct call_statistics_table *other);

#endif
