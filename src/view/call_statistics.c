/* SPDX-License-Identifier: MIT */
#include "view/call_statistics.h"

#include "hosted/growing_array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void call_statistics_deinit(struct call_statistics *statistics)
{
    duration_histogram_deinit(&statistics->durations);
}

static void count_flags(struct call_statistics *statistics, uint32_t flags)
{
    statistics->guessed += (flags & CALL_GUESSED) != 0;
    statistics->cut += (flags & CALL_CUT) != 0;
    statistics->unwound += (flags & CALL_UNWOUND) != 0;
    statistics->no_return += (flags & CALL_NO_RETURN) != 0;
    statistics->entry_only += (flags & CALL_ENTRY_ONLY) != 0;
    statistics->suspended += (flags & CALL_RESUMED) != 0;
}

static int add_duration(struct call_statistics *statistics, uint64_t took)
{
    if (statistics->durations.octave_count == 0 || took < statistics->shortest)
        statistics->shortest = took;
    if (took > statistics->longest)
        statistics->longest = took;
    return duration_histogram_add(&statistics->durations, took);
}

int call_statistics_end(struct call_statistics *statistics, const struct view_call *call)
{
    uint64_t took = view_call_part_ticks(call);

    statistics->sum += took;
    statistics->self += took - call->inner;
    if (--statistics->open == 0)
        statistics->total += took;
    /* How long one took is not known before its last part, or where it began in the process that forked within it. */
    if (call->flags & CALL_SUSPENDED || (call->flags & CALL_RESUMED && call->first_begin == 0 && call->earlier == 0))
        return 0;
    if (call->flags != 0)
        count_flags(statistics, call->flags);
    return call->flags & CALL_ENTRY_ONLY ? 0 : add_duration(statistics, view_call_ticks(call));
}

int call_statistics_end_suspended(struct call_statistics *statistics, const struct view_call *call)
{
    count_flags(statistics, call->flags | CALL_RESUMED);
    return add_duration(statistics, view_call_ticks(call));
}

int call_statistics_merge(struct call_statistics *statistics, const struct call_statistics *other)
{
    bool was_empty = statistics->durations.octave_count == 0;

    if (other->durations.octave_count != 0 && (was_empty || other->shortest < statistics->shortest))
        statistics->shortest = other->shortest;
    if (other->longest > statistics->longest)
        statistics->longest = other->longest;
    statistics->calls += other->calls;
    statistics->open += other->open;
    statistics->total += other->total;
    statistics->self += other->self;
    statistics->sum += other->sum;
    statistics->guessed += other->guessed;
    statistics->cut += other->cut;
    statistics->unwound += other->unwound;
    statistics->no_return += other->no_return;
    statistics->entry_only += other->entry_only;
    statistics->suspended += other->suspended;
    return duration_histogram_merge(&statistics->durations, &other->durations);
}

double call_statistics_average(const struct call_statistics *statistics)
{
    uint64_t timed = statistics->calls - statistics->entry_only;

    return timed == 0 ? 0 : (double)statistics->sum / (double)timed;
}

uint64_t call_statistics_percentile(const struct call_statistics *statistics, double percent)
{
    uint64_t time = duration_histogram_percentile(&statistics->durations, percent);

    /* The middle of a bucket may be where none of them was. */
    return time < statistics->shortest ? statistics->shortest : time > statistics->longest ? statistics->longest : time;
}

void call_statistics_table_deinit(struct call_statistics_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        call_statistics_deinit(&table->all[i]);
    free(table->all);
    *table = (struct call_statistics_table){.count = 0};
}

struct call_statistics *call_statistics_table_obtain(struct call_statistics_table *table, size_t number)
{
    if (number >= table->count) {
        if (ARRAY_RESERVE(table->all, table->capacity, number + 1) != 0)
            return NULL;
        memset(&table->all[table->count], 0, (number + 1 - table->count) * sizeof(table->all[0]));
        table->count = number + 1;
    }
    return &table->all[number];
}

int call_statistics_table_merge(struct call_statistics_table *table, const struct call_statistics_table *other)
{
    for (size_t i = 0; i < other->count; i++) {
        struct call_statistics *into = call_statistics_table_obtain(table, i);
        int result = into == NULL ? -ENOMEM : call_statistics_merge(into, &other->all[i]);

        if (result != 0)
            return result;
    }
    return 0;
}
