/* SPDX-License-Identifier: MIT */
/*
 * Each call is told by one event when it begins, and by one row when it ends: so beginnings are counted, and nothing
 * needs to be known of ends. A record of a hooked function has its number and its time: both are all that is looked at.
 * A stream in which anything is odd is read again as events, which says what is wrong with it.
 */
#include "query/call_tally.h"

#include "query/event_scan.h"
#include "query/function_sums.h"
#include "query/thread_pass.h"
#include "ring/event_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Larger numbers are not counted in an array: that would take too much memory. */
#define NUMBERS_MAX (1u << 22)

/* Of a function in a thread, before functions are numbered. */
struct counted {
    size_t thread;
    uint64_t address;
    uint64_t time;
    uint64_t calls;
};

struct worker {
    const struct view_trace *trace;
    struct event_scan scan;
    struct function_sums sums; /* of the thread that is read */
    uint64_t last_time;
    uint32_t process;

    uint64_t *numbers; /* by the number of the block: twice its calls, and 1 if it was left, since `from` */
    size_t number_capacity;
    size_t number_count; /* more than the largest one */
    uint64_t from;
    uint64_t to; /* when something is mapped, or unmapped */

    struct counted *counted;
    size_t count;
    size_t capacity;
    int result; /* -ENOMEM */
};

/* ---- as events --------------------------------------------------------------------------------------------------- */

static int count_call(struct worker *worker, uint64_t address, uint64_t time, uint64_t calls)
{
    uint32_t sum = function_sums_find(&worker->sums, worker->process, address, time);

    if (sum == FUNCTION_SUMS_NONE)
        return worker->result = -ENOMEM;
    worker->sums.sums[sum].calls += calls;
    return 0;
}

static int take_events(void *context, const struct gait_event *events, size_t count, const struct trace_span *span)
{
    struct worker *worker = context;

    for (size_t i = 0; i < count && worker->result == 0; i++) {
        uint64_t time = trace_span_time(span, events, count, i);

        worker->last_time = time > worker->last_time ? time : worker->last_time;
        if (events[i].kind & (GAIT_EVENT_ENTER | GAIT_EVENT_CALL))
            count_call(worker, events[i].kind == GAIT_EVENT_ENTER ? events[i].location : events[i].target,
                       worker->last_time, 1);
    }
    return worker->result;
}

/* ---- as records -------------------------------------------------------------------------------------------------- */

/* Gives what was counted by number to the functions. False: a number is of no block. */
static bool settle(struct worker *worker, const struct event_blocks *blocks)
{
    struct event_block block;

    for (size_t i = 0; i < worker->number_count; i++) {
        uint64_t seen = worker->numbers[i];

        worker->numbers[i] = 0;
        if (seen == 0)
            continue;
        if (!blocks->find(blocks->context, (uint32_t)i, &block))
            return false;
        if (seen > 1 && count_call(worker, block.start, worker->from, seen / 2) != 0)
            return true;
    }
    worker->number_count = 0;
    return true;
}

/* False: there is none, or the number is larger than any that there should be. */
static bool make_room(struct worker *worker, uint32_t number)
{
    size_t capacity = (size_t)number + number / 2 + 1024;
    uint64_t *grown;

    if (number < worker->number_capacity)
        return true;
    if (number > NUMBERS_MAX)
        return false;
    grown = realloc(worker->numbers, capacity * sizeof(*grown));
    if (grown == NULL) {
        worker->result = -ENOMEM;
        return false;
    }
    memset(grown + worker->number_capacity, 0, (capacity - worker->number_capacity) * sizeof(*grown));
    worker->numbers = grown;
    worker->number_capacity = capacity;
    return true;
}

/* Something was mapped, or unmapped: numbers may be of other functions from now on. */
static bool begin_pause(struct worker *worker, const struct event_blocks *blocks)
{
    if (!settle(worker, blocks))
        return false;
    query_module_pause(&worker->trace->processes[worker->process].modules, worker->last_time, &worker->from,
                       &worker->to);
    /* What is counted is looked up by a time within. */
    worker->from = worker->last_time;
    return true;
}

/* False: something is odd, or there is no memory. */
static bool count_records(struct worker *worker, const struct event_blocks *blocks, const struct stream_chunk *chunk)
{
    if (chunk->size_bytes % EVENT_HOOK_BYTES != 0)
        return false;
    for (size_t at = 0; at < chunk->size_bytes; at += EVENT_HOOK_BYTES) {
        uint32_t header, number;
        uint64_t time;

        memcpy(&header, chunk->bytes + at, sizeof(header));
        memcpy(&time, chunk->bytes + at + EVENT_HOOK_BYTES - sizeof(time), sizeof(time));
        if (!event_record_is_hooked(event_header_record(header)))
            return false;
        worker->last_time = time > worker->last_time ? time : worker->last_time;
        if (worker->last_time >= worker->to && !begin_pause(worker, blocks))
            return false;
        number = event_header_number(header);
        if (number >= worker->number_count) {
            if (!make_room(worker, number))
                return false;
            worker->number_count = (size_t)number + 1;
        }
        worker->numbers[number] = event_header_record(header) == EVENT_RECORD_ENTER ? worker->numbers[number] + 2
                                                                                    : worker->numbers[number] | 1;
    }
    return true;
}

/* False: it is to be read as events. */
static bool count_piece(struct worker *worker, const struct view_thread *thread, const char *path)
{
    struct stream_reader reader;
    struct stream_chunk chunk;
    struct trace_block_space space;
    struct event_blocks blocks;
    bool is_good;

    if (stream_reader_open(&reader, worker->trace->files.folder, path, NULL) != 0)
        return false;
    space = (struct trace_block_space){&worker->trace->processes[thread->process].blocks, reader.header.space};
    blocks = trace_blocks_of(&space);
    is_good = reader.header.kind == TRACE_STREAM_INDEX && reader.header.tid == thread->tid &&
              reader.header.events == EVENTS_HOOKED;
    while (is_good && stream_reader_next(&reader, &chunk))
        is_good = count_records(worker, &blocks, &chunk);
    is_good = is_good && reader.end.state == STREAM_COMPLETE && settle(worker, &blocks);
    stream_reader_close(&reader);
    return is_good && worker->result == 0;
}

static bool count_pieces(struct worker *worker, size_t thread)
{
    const struct view_thread *shown = &worker->trace->threads[thread];

    for (size_t i = 0; i < shown->piece_count; i++)
        if (!count_piece(worker, shown, shown->pieces[i].path))
            return false;
    return true;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void begin_thread(struct worker *worker, size_t thread)
{
    function_sums_clear(&worker->sums);
    if (worker->numbers != NULL)
        memset(worker->numbers, 0, worker->number_capacity * sizeof(*worker->numbers));
    worker->number_count = 0;
    worker->from = worker->to = worker->last_time = 0;
    worker->process = (uint32_t)worker->trace->threads[thread].process;
}

static int keep_sums(struct worker *worker, size_t thread)
{
    for (size_t i = 0; i < worker->sums.count; i++) {
        const struct function_sum *sum = &worker->sums.sums[i];

        if (worker->count == worker->capacity) {
            size_t capacity = worker->capacity == 0 ? 64 : 2 * worker->capacity;
            struct counted *grown = realloc(worker->counted, capacity * sizeof(*grown));

            if (grown == NULL)
                return -ENOMEM;
            worker->counted = grown;
            worker->capacity = capacity;
        }
        worker->counted[worker->count++] = (struct counted){thread, sum->address, sum->time, sum->calls};
    }
    return 0;
}

static int read_thread(void *context, unsigned number, size_t thread)
{
    struct worker *worker = (struct worker *)context + number;

    begin_thread(worker, thread);
    if (!count_pieces(worker, thread) && worker->result == 0) {
        begin_thread(worker, thread);
        event_scan_read(&worker->scan, thread);
    }
    return worker->result != 0 ? worker->result : keep_sums(worker, thread);
}

/* ---- putting it together ----------------------------------------------------------------------------------------- */

static int compare(const void *left_counted, const void *right_counted)
{
    const struct counted *left = left_counted, *right = right_counted;

    if (left->thread != right->thread)
        return left->thread < right->thread ? -1 : 1;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    return left->time < right->time ? -1 : left->time > right->time;
}

static int number_functions(struct call_tally *tally, struct query_source *source, const struct counted *all,
                            size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t process = source->trace->threads[all[i].thread].process;
        uint32_t function = query_source_number(source, process, all[i].address, all[i].time);

        if (function == VIEW_NO_FUNCTION)
            return -ENOMEM;
        tally->counts[tally->count++] = (struct call_tally_count){all[i].thread, function, all[i].calls};
    }
    return 0;
}

/* Who read which thread is chance; the order in which functions are numbered is not. */
static int collect(struct call_tally *tally, struct query_source *source, const struct worker *workers)
{
    struct counted *all;
    size_t count = 0;
    int result = -ENOMEM;

    for (size_t i = 0; i < THREAD_PASS_WORKERS; i++) {
        count += workers[i].count;
        query_source_note(source, workers[i].scan.problem, &workers[i].scan.why);
    }
    all = calloc(count + 1, sizeof(*all));
    tally->counts = calloc(count + 1, sizeof(*tally->counts));
    count = 0;
    for (size_t i = 0; i < THREAD_PASS_WORKERS && all != NULL; i++)
        for (size_t j = 0; j < workers[i].count; j++)
            all[count++] = workers[i].counted[j];
    if (all != NULL && tally->counts != NULL) {
        qsort(all, count, sizeof(*all), compare);
        result = number_functions(tally, source, all, count);
    }
    free(all);
    return result;
}

int call_tally_init(struct call_tally *tally, struct query_source *source, const bool *threads)
{
    struct worker *workers = calloc(THREAD_PASS_WORKERS, sizeof(*workers));
    const struct thread_pass pass = {
        .trace = source->trace, .wanted = threads, .read = read_thread, .context = workers};
    int result;

    *tally = (struct call_tally){.count = 0};
    if (workers == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < THREAD_PASS_WORKERS; i++) {
        workers[i].trace = source->trace;
        function_sums_init(&workers[i].sums, source->trace);
        workers[i].scan = (struct event_scan){
            .trace = source->trace, .receiver = {take_events, NULL, NULL, NULL}, .context = &workers[i]};
    }
    result = thread_pass_run(&pass);
    if (result == 0)
        result = collect(tally, source, workers);
    for (size_t i = 0; i < THREAD_PASS_WORKERS; i++) {
        function_sums_deinit(&workers[i].sums);
        free(workers[i].numbers);
        free(workers[i].counted);
    }
    free(workers);
    return result;
}

void call_tally_deinit(struct call_tally *tally)
{
    free(tally->counts);
    *tally = (struct call_tally){.count = 0};
}
