/* SPDX-License-Identifier: MIT */
/*
 * Workers sum for themselves; only at the end are functions numbered, by who asked: numbers and names are for one
 * thread at a time.
 */
#include "query/call_totals.h"

#include "hosted/growing_array.h"
#include "query/event_scan.h"
#include "query/event_tally.h"
#include "query/function_sums.h"
#include "query/thread_pass.h"
#include "view/call_tracker.h"

#include <errno.h>
#include <stdlib.h>

struct totals_worker {
    struct event_scan scan;
    struct call_tracker tracker;
    struct function_sums sums;
    uint32_t *open; /* which sums the open calls are of */
    size_t open_count;
    size_t open_capacity;
    uint32_t process;
    int result; /* -ENOMEM */
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static int begin_call(void *context, const struct view_call *call)
{
    struct totals_worker *worker = context;
    uint32_t sum = function_sums_find(&worker->sums, worker->process, call->function, call->begin);

    if (ARRAY_RESERVE(worker->open, worker->open_capacity, worker->open_count + 1) != 0)
        return worker->result = -ENOMEM;
    if (sum == FUNCTION_SUMS_NONE)
        return worker->result = -ENOMEM;
    worker->open[worker->open_count++] = sum;
    worker->sums.sums[sum].open_count++;
    return 0;
}

static int end_call(void *context, const struct view_call *call)
{
    struct totals_worker *worker = context;
    struct function_sum *sum = &worker->sums.sums[worker->open[--worker->open_count]];
    uint64_t ticks = view_call_part_ticks(call);

    sum->calls += !(call->flags & CALL_RESUMED);
    sum->summed += ticks;
    sum->self += ticks - call->inner;
    sum->total += --sum->open_count == 0 ? ticks : 0;
    sum->entry_only += (call->flags & CALL_ENTRY_ONLY) != 0;
    if (call->flags & (CALL_SUSPENDED | CALL_ENTRY_ONLY))
        return 0;
    ticks = view_call_ticks(call);
    sum->shortest = ticks < sum->shortest ? ticks : sum->shortest;
    sum->longest = ticks > sum->longest ? ticks : sum->longest;
    return 0;
}

static int take_events(void *context, const struct gait_event *events, size_t count, const struct trace_span *span)
{
    return call_tracker_take(&((struct totals_worker *)context)->tracker, events, count, span);
}

static void lose_events(void *context, uint64_t bytes)
{
    call_tracker_lose(&((struct totals_worker *)context)->tracker, bytes);
}

static void skip_events(void *context)
{
    call_tracker_lose(&((struct totals_worker *)context)->tracker, 0);
}

static void begin_thread(void *context, size_t thread)
{
    struct totals_worker *worker = context;
    const struct call_receiver receiver = {begin_call, end_call, NULL, worker, NULL};

    worker->process = (uint32_t)worker->scan.trace->threads[thread].process;
    call_tracker_init(&worker->tracker, &receiver);
    call_tracker_know_goroutines(&worker->tracker, worker->scan.trace->processes[worker->process].goroutines, thread);
}

static void end_thread(void *context, size_t thread)
{
    struct totals_worker *worker = context;

    (void)thread;
    call_tracker_finish(&worker->tracker);
    if (worker->tracker.result != 0)
        worker->result = worker->tracker.result;
    call_tracker_deinit(&worker->tracker);
}

static int read_thread(void *context, unsigned number, size_t thread)
{
    struct totals_worker *worker = (struct totals_worker *)context + number;

    event_scan_read(&worker->scan, thread);
    return worker->result;
}

/* ---- putting it together ----------------------------------------------------------------------------------------- */

/* NULL: there is no memory. */
static struct call_total *total_of(struct call_totals *totals, uint32_t number)
{
    size_t before = totals->count;

    if (number == VIEW_NO_FUNCTION)
        return NULL;
    if (ARRAY_RESERVE(totals->totals, totals->count, (size_t)number + 1) != 0)
        return NULL;
    for (size_t i = before; i < totals->count; i++)
        totals->totals[i] = (struct call_total){.shortest = UINT64_MAX};
    return &totals->totals[number];
}

static int add_sum(struct call_totals *totals, struct query_source *source, const struct function_sum *sum)
{
    struct call_total *total = total_of(totals, query_source_number(source, sum->process, sum->address, sum->time));

    if (total == NULL)
        return -ENOMEM;
    total->calls += sum->calls;
    total->total += sum->total;
    total->summed += sum->summed;
    total->self += sum->self;
    total->entry_only += sum->entry_only;
    total->shortest = sum->shortest < total->shortest ? sum->shortest : total->shortest;
    total->longest = sum->longest > total->longest ? sum->longest : total->longest;
    return 0;
}

static int compare(const void *left_sum, const void *right_sum)
{
    const struct function_sum *left = left_sum, *right = right_sum;

    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    return left->from < right->from ? -1 : left->from > right->from;
}

/* Who read which thread is chance; the order in which functions are numbered is not. */
static int collect(struct call_totals *totals, struct query_source *source, struct totals_worker *workers)
{
    struct function_sum *all;
    size_t count = 0;
    int result = 0;

    for (size_t i = 0; i < THREAD_PASS_WORKERS; i++) {
        count += workers[i].sums.count;
        query_source_note(source, workers[i].scan.problem, &workers[i].scan.why);
    }
    all = calloc(count + 1, sizeof(*all));
    if (all == NULL)
        return -ENOMEM;
    count = 0;
    for (size_t i = 0; i < THREAD_PASS_WORKERS; i++)
        for (size_t j = 0; j < workers[i].sums.count; j++)
            all[count++] = workers[i].sums.sums[j];
    qsort(all, count, sizeof(*all), compare);
    for (size_t i = 0; i < count && result == 0; i++)
        result = add_sum(totals, source, &all[i]);
    free(all);
    return result;
}

static int sum_times(struct call_totals *totals, struct query_source *source)
{
    struct totals_worker *workers = calloc(THREAD_PASS_WORKERS, sizeof(*workers));
    const struct thread_pass pass = {.trace = source->trace, .read = read_thread, .context = workers};
    int result;

    if (workers == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < THREAD_PASS_WORKERS; i++) {
        function_sums_init(&workers[i].sums, source->trace);
        workers[i].scan = (struct event_scan){
            .trace = source->trace,
            .receiver = {take_events, lose_events, skip_events, NULL},
            .begin = begin_thread,
            .end = end_thread,
            .context = &workers[i],
        };
    }
    result = thread_pass_run(&pass);
    if (result == 0)
        result = collect(totals, source, workers);
    for (size_t i = 0; i < THREAD_PASS_WORKERS; i++) {
        function_sums_deinit(&workers[i].sums);
        free(workers[i].open);
    }
    free(workers);
    return result;
}

static int sum_calls(struct call_totals *totals, struct query_source *source)
{
    struct event_tally tally;
    int result = event_tally_init(&tally, source, EVENT_TALLY_CALLS, NULL);

    for (size_t i = 0; i < tally.count && result == 0; i++) {
        struct call_total *total = total_of(totals, tally.counts[i].function);

        if (total == NULL)
            result = -ENOMEM;
        else
            total->calls += tally.counts[i].count;
    }
    event_tally_deinit(&tally);
    return result;
}

int call_totals_create(struct call_totals **totals_out, struct query_source *source, bool has_times)
{
    struct call_totals *totals = calloc(1, sizeof(*totals));
    int result;

    if (totals == NULL)
        return -ENOMEM;
    totals->has_times = has_times;
    result = has_times ? sum_times(totals, source) : sum_calls(totals, source);
    if (result != 0) {
        call_totals_destroy(totals);
        return result;
    }
    *totals_out = totals;
    return 0;
}

void call_totals_destroy(struct call_totals *totals)
{
    if (totals != NULL)
        free(totals->totals);
    free(totals);
}
