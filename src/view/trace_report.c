/* SPDX-License-Identifier: MIT */
/*
 * Work is a list: a thread each, the largest first, then the details of a process each. Workers take from it until it
 * is empty, count on their own, and are added up at the end.
 */
#include "view/trace_report.h"

#include "hosted/error_text.h"
#include "trace/trace_details.h"
#include "trace/trace_events.h"
#include "view/call_counter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORKERS_MAX 64u

/* Something to be read by one worker. */
struct report_work {
    uint64_t size_bytes;
    size_t thread;
};

struct work_list {
    struct trace_report *report;
    struct report_work *threads;
    atomic_size_t next; /* of the threads; behind them: of the processes */
};

struct report_worker {
    struct work_list *list;
    struct call_counter counter;
    pthread_t thread;
    int result;
};

/* ---- a thread ---------------------------------------------------------------------------------------------------- */

struct thread_reading {
    struct thread_tally *tally;
    struct call_tracker tracker;
};

static int take_events(void *context, const struct gait_event *events, size_t count, const struct trace_span *span)
{
    struct thread_reading *reading = context;

    thread_tally_take(reading->tally, events, count, span);
    return call_tracker_take(&reading->tracker, events, count, span);
}

static void lose_events(void *context, uint64_t bytes)
{
    struct thread_reading *reading = context;

    thread_tally_lose(reading->tally, bytes);
    call_tracker_lose(&reading->tracker, bytes);
}

static void skip_events(void *context)
{
    call_tracker_lose(&((struct thread_reading *)context)->tracker, 0);
}

/* -ENOMEM; what else is wrong is kept with the thread. */
static int read_thread(struct report_worker *worker, size_t index)
{
    const struct view_trace *trace = worker->list->report->trace;
    const struct view_thread *thread = &trace->threads[index];
    struct thread_reading reading = {.tally = &worker->list->report->threads[index]};
    struct trace_events_receiver events = {take_events, lose_events, skip_events, &reading};
    struct call_receiver calls;
    struct trace_events_end end;
    int result = call_counter_receive(&worker->counter, index, &calls);

    if (result != 0)
        return result;
    call_tracker_init(&reading.tracker, &calls);
    call_tracker_know_goroutines(&reading.tracker, trace->processes[thread->process].goroutines, index);
    result = trace_events_read(trace->files.folder, thread->pieces, thread->piece_count,
                               &trace->processes[thread->process].blocks, &events, &end, &reading.tally->err);
    call_tracker_finish(&reading.tracker);
    if (result == 0)
        thread_tally_finish(reading.tally, &end);
    result = reading.tracker.result;
    call_tracker_deinit(&reading.tracker);
    return result;
}

/* ---- a process --------------------------------------------------------------------------------------------------- */

static void take_enter(void *context, const struct detail_enter *enter, const uint8_t *stack,
                       struct detail_values values)
{
    struct report_process *process = context;

    (void)stack;
    detail_counts_enter(&process->details, enter, values);
}

static void take_leave(void *context, const struct detail_leave *leave, struct detail_values values)
{
    struct report_process *process = context;

    detail_counts_leave(&process->details, leave, values);
}

static void take_probe(void *context, const struct detail_probe *probe, struct detail_values values)
{
    struct report_process *process = context;

    probe_counts_add(&process->probes, probe, values);
}

static void take_system_call(void *context, const struct detail_system_call *call, struct detail_values values)
{
    struct report_process *process = context;

    (void)values;
    if (process->begun_time == call->entered_time && process->begun_number == call->record.function)
        system_call_sums_take_back(&process->system_calls, call->record.function);
    system_call_sums_add(&process->system_calls, call);
}

/* It may be the only word of one that did not come back. */
static void take_system_call_enter(void *context, const struct detail_system_call_enter *enter,
                                   struct detail_values values)
{
    const struct detail_system_call call = {.record = enter->record, .flags = DETAIL_SYSTEM_CALL_NEVER_RETURNED};
    struct report_process *process = context;

    (void)values;
    process->begun_time = enter->record.time;
    process->begun_number = enter->record.function;
    system_call_sums_add(&process->system_calls, &call);
}

/* -ENOMEM; what else is wrong is kept. */
static int read_details(const struct view_trace *trace, struct report_process *process, const struct trace_file *file)
{
    const struct trace_details_receiver receiver = {
        .enter = take_enter,
        .leave = take_leave,
        .context = process,
        .system_call = take_system_call,
        .system_call_enter = take_system_call_enter,
        .probe = take_probe,
    };
    struct trace_details_end end;

    if (trace_details_read(trace->files.folder, file->path, &receiver, &end, &process->err) != 0)
        return 0;
    if (end.stream.state != STREAM_COMPLETE)
        stream_end_explain(&end.stream, file->path, &process->err);
    else if (end.bad_bytes != 0)
        error_set(&process->err, EPROTO, "cannot read all of '%s': %" PRIu64 " bytes are no records; try 'gait verify'",
                  file->path, end.bad_bytes);
    if (process->details.result != 0)
        return process->details.result;
    return process->probes.result != 0 ? process->probes.result : process->system_calls.result;
}

static int read_process(struct trace_report *report, size_t index)
{
    const struct view_trace *trace = report->trace;
    struct report_process *process = &report->processes[index];
    int result = 0;

    for (size_t i = 0; i < trace->files.count && result == 0; i++) {
        const struct trace_file *file = &trace->files.files[i];

        if (file->pid != trace->processes[index].pid || file->image != trace->processes[index].image)
            continue;
        if (file->kind == TRACE_FILE_DETAIL)
            result = read_details(trace, process, file);
        else if (file->kind == TRACE_FILE_CRASH)
            process->has_crash = trace_crash_read(&process->crash, trace->files.folder, file->path, NULL) == 0;
    }
    detail_counts_sort(&process->details);
    probe_counts_sort(&process->probes);
    return result;
}

/* ---- workers ----------------------------------------------------------------------------------------------------- */

static void *work(void *context)
{
    struct report_worker *worker = context;
    const struct view_trace *trace = worker->list->report->trace;

    while (worker->result == 0) {
        size_t at = atomic_fetch_add_explicit(&worker->list->next, 1, memory_order_relaxed);

        if (at < trace->thread_count)
            worker->result = read_thread(worker, worker->list->threads[at].thread);
        else if (at < trace->thread_count + trace->process_count)
            worker->result = read_process(worker->list->report, at - trace->thread_count);
        else
            break;
    }
    return NULL;
}

static size_t count_workers(const struct view_trace *trace, unsigned wanted)
{
    long cpus = wanted != 0 ? (long)wanted : sysconf(_SC_NPROCESSORS_ONLN);
    size_t count = cpus < 1 ? 1 : (size_t)cpus;

    if (count > WORKERS_MAX)
        count = WORKERS_MAX;
    if (count > trace->thread_count)
        count = trace->thread_count;
    return count == 0 ? 1 : count;
}

/* The last of them works here; where no thread is to be had, it does the others' work. */
static void run_workers(struct report_worker *workers, size_t count)
{
    size_t started = 0;

    while (started + 1 < count && pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
        started++;
    work(&workers[count - 1]);
    for (size_t i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
}

static int add_up(struct trace_report *report, const struct report_worker *workers, size_t count)
{
    int result = 0;

    for (size_t i = 0; i < count && result == 0; i++)
        result = workers[i].result;
    for (size_t i = 0; i < count && result == 0; i++)
        result = call_statistics_table_merge(&report->statistics, &workers[i].counter.statistics);
    /* Groups that nobody called are no surprise: threads. */
    if (result == 0 && report->groups.count != 0 &&
        call_statistics_table_obtain(&report->statistics, report->groups.count - 1) == NULL)
        result = -ENOMEM;
    for (size_t i = 0; i < report->statistics.count && result == 0; i++)
        result = call_statistics_merge(&report->all, &report->statistics.all[i]);
    for (size_t i = 0; i < report->trace->process_count; i++)
        system_call_sums_merge(&report->system_calls, &report->processes[i].system_calls);
    system_call_sums_sort(&report->system_calls);
    if (result == 0)
        result = report->system_calls.result;
    return result;
}

static int read_by_workers(struct work_list *list, size_t count)
{
    struct report_worker *workers = calloc(count, sizeof(*workers));
    size_t made = 0;
    int result = workers == NULL ? -ENOMEM : 0;

    for (; made < count && result == 0; made += result == 0) {
        workers[made].list = list;
        result = call_counter_init(&workers[made].counter, &list->report->groups);
    }
    if (result == 0) {
        run_workers(workers, count);
        result = add_up(list->report, workers, count);
    }
    while (made > 0)
        call_counter_deinit(&workers[--made].counter);
    free(workers);
    return result;
}

static int compare_work(const void *left_work, const void *right_work)
{
    const struct report_work *left = left_work, *right = right_work;

    if (left->size_bytes != right->size_bytes)
        return left->size_bytes > right->size_bytes ? -1 : 1;
    return left->thread < right->thread ? -1 : left->thread > right->thread;
}

static uint64_t size_of(const struct view_trace *trace, const struct view_thread *thread)
{
    uint64_t size_bytes = 0;
    struct stat status;

    for (size_t i = 0; i < thread->piece_count; i++)
        if (fstatat(trace->files.folder, thread->pieces[i].path, &status, 0) == 0)
            size_bytes += (uint64_t)status.st_size;
    return size_bytes;
}

static int read_all(struct trace_report *report, const struct trace_report_options *options)
{
    const struct view_trace *trace = report->trace;
    struct work_list list = {.report = report};
    int result;

    list.threads = calloc(trace->thread_count + 1, sizeof(*list.threads));
    if (list.threads == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < trace->thread_count; i++)
        list.threads[i] = (struct report_work){size_of(trace, &trace->threads[i]), i};
    qsort(list.threads, trace->thread_count, sizeof(list.threads[0]), compare_work);
    result = read_by_workers(&list, count_workers(trace, options->worker_count));
    free(list.threads);
    return result;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int make_room(struct trace_report *report)
{
    const struct view_trace *trace = report->trace;
    int result = 0;

    report->threads = calloc(trace->thread_count + 1, sizeof(*report->threads));
    report->processes = calloc(trace->process_count + 1, sizeof(*report->processes));
    if (report->threads == NULL || report->processes == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < trace->process_count && result == 0; i++)
        result = detail_counts_init(&report->processes[i].details);
    return result;
}

static void judge_times(struct trace_report *report)
{
    const uint32_t ends = GAIT_EVENT_RET | GAIT_EVENT_LEAVE;

    report->has_times = report->trace->manifest.events & ends;
    for (size_t i = 0; i < report->trace->thread_count; i++)
        for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
            report->has_times |= (ends & 1u << bit) != 0 && report->threads[i].counts[bit] != 0;
    report->has_guesses = report->has_times && report->all.guessed != 0;
    if (report->has_guesses)
        report->guesses = guessed_times_of_trace(report->trace);
}

int trace_report_read(struct trace_report *report, const struct view_trace *trace,
                      const struct trace_report_options *options, struct gait_error *err)
{
    int result;

    *report = (struct trace_report){.trace = trace};
    result = call_groups_init(&report->groups, trace, options->by, options->filter);
    if (result == 0) {
        symbolizer_watch(&report->groups.symbolizer, options->watch);
        result = make_room(report);
        if (result == 0)
            result = read_all(report, options);
        if (result == 0) {
            judge_times(report);
            return 0;
        }
        trace_report_free(report);
    }
    return error_set(err, result,
                     "cannot count what is in the trace: there is no memory for its functions; try to "
                     "free some");
}

void trace_report_free(struct trace_report *report)
{
    for (size_t i = 0; i < report->trace->process_count && report->processes != NULL; i++) {
        detail_counts_deinit(&report->processes[i].details);
        probe_counts_deinit(&report->processes[i].probes);
        system_call_sums_deinit(&report->processes[i].system_calls);
        trace_crash_deinit(&report->processes[i].crash);
    }
    free(report->processes);
    free(report->threads);
    call_statistics_table_deinit(&report->statistics);
    call_statistics_deinit(&report->all);
    call_groups_deinit(&report->groups);
    system_call_sums_deinit(&report->system_calls);
}

uint64_t trace_report_lost_bytes(const struct trace_report *report)
{
    const struct manifest *manifest = &report->trace->manifest;
    uint64_t bytes = 0;

    for (size_t i = 0; i < report->trace->thread_count; i++)
        bytes += report->threads[i].lost_bytes;
    for (size_t i = 0; i < manifest->process_count; i++)
        bytes += manifest_unwritten_bytes(&manifest->processes[i]);
    return bytes;
}
