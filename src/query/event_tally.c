/* SPDX-License-Identifier: MIT */
/*
 * Each call has one event when it begins, and one row when it ends: so beginnings are counted, and nothing
 * needs to be known of ends. A record of a hooked function has its number and its time: both are all that is looked at,
 * and of chunks that have counts not even these, unless something was mapped or unmapped meanwhile. A stream in which
 * anything is odd is read again as events, which says what is wrong with it.
 */
#include "query/event_tally.h"

#include "hosted/growing_array.h"
#include "query/event_scan.h"
#include "query/function_sums.h"
#include "query/thread_pass.h"
#include "ring/event_record.h"
#include "trace/event_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Larger numbers are not counted in an array: that would take too much memory. */
#define NUMBERS_MAX (1u << 22)

/* Of a function in a thread, before functions are numbered. */
struct counted_function {
    size_t thread;
    uint64_t address;
    uint64_t time;
    uint32_t kind;
    uint64_t count;
};

/* By the number of a block. */
struct number_count {
    uint64_t entered;
    uint64_t left;
};

struct tally_worker {
    const struct view_trace *trace;
    enum event_tally_subject subject;
    struct event_scan scan;
    struct function_sums sums[EVENT_NAME_COUNT]; /* of the thread that is read, by the bit of the kind; of calls: 0 */
    uint64_t last_time;
    uint32_t process;

    struct number_count *numbers; /* since `from` */
    size_t number_capacity;
    size_t number_count; /* more than the largest one */
    uint64_t from;
    uint64_t to; /* when something is mapped, or unmapped */

    struct counted_function *counted;
    size_t count;
    size_t capacity;
    int result; /* -ENOMEM */
};

/* ---- as events --------------------------------------------------------------------------------------------------- */

static unsigned bit_of(uint32_t kind)
{
    return kind == 0 ? 0 : (unsigned)__builtin_ctz(kind) % EVENT_NAME_COUNT;
}

/* Adds to what happened so often at an address; of calls the kind is 0. */
static int add(struct tally_worker *worker, uint32_t kind, uint64_t address, uint64_t time, uint64_t count)
{
    struct function_sums *sums = &worker->sums[bit_of(kind)];
    uint32_t sum = function_sums_find(sums, worker->process, address, time);

    if (sum == FUNCTION_SUMS_NONE)
        return worker->result = -ENOMEM;
    sums->sums[sum].calls += count;
    return 0;
}

static int take_events(void *context, const struct gait_event *events, size_t count, const struct trace_span *span)
{
    struct tally_worker *worker = context;

    for (size_t i = 0; i < count && worker->result == 0; i++) {
        uint64_t time = trace_span_time(span, events, count, i);

        worker->last_time = time > worker->last_time ? time : worker->last_time;
        if (events[i].kind == GAIT_EVENT_GOROUTINE)
            continue;
        if (worker->subject == EVENT_TALLY_EVENTS)
            add(worker, events[i].kind, events[i].location, worker->last_time, 1);
        else if (events[i].kind & (GAIT_EVENT_ENTER | GAIT_EVENT_CALL | GAIT_EVENT_RESUME))
            add(worker, 0, events[i].kind == GAIT_EVENT_CALL ? events[i].target : events[i].location, worker->last_time,
                1);
    }
    return worker->result;
}

/* ---- as records -------------------------------------------------------------------------------------------------- */

/* Of a function that begins there. */
static int add_function(struct tally_worker *worker, uint64_t address, const struct number_count *seen)
{
    bool is_events = worker->subject == EVENT_TALLY_EVENTS;
    int result = 0;

    if (seen->entered != 0)
        result = add(worker, is_events ? GAIT_EVENT_ENTER : 0, address, worker->from, seen->entered);
    if (result == 0 && is_events && seen->left != 0)
        result = add(worker, GAIT_EVENT_LEAVE, address, worker->from, seen->left);
    return result;
}

/* Gives what was counted by number to the functions. False: a number is of no block. */
static bool settle(struct tally_worker *worker, const struct event_blocks *blocks)
{
    struct event_block block;

    for (size_t i = 0; i < worker->number_count; i++) {
        struct number_count seen = worker->numbers[i];

        worker->numbers[i] = (struct number_count){0};
        if (seen.entered == 0 && seen.left == 0)
            continue;
        if (!blocks->find(blocks->context, (uint32_t)i, &block))
            return false;
        if (add_function(worker, block.start, &seen) != 0)
            return true;
    }
    worker->number_count = 0;
    return true;
}

/* NULL: there is no memory, or the number is larger than any that there should be. */
static struct number_count *count_beyond(struct tally_worker *worker, uint32_t number)
{
    if (number > NUMBERS_MAX)
        return NULL;
    if (ARRAY_RESERVE_ZEROED(worker->numbers, worker->number_capacity, (size_t)number + 1) != 0) {
        worker->result = -ENOMEM;
        return NULL;
    }
    worker->number_count = (size_t)number + 1;
    return &worker->numbers[number];
}

static inline struct number_count *count_of(struct tally_worker *worker, uint32_t number)
{
    return number < worker->number_count ? &worker->numbers[number] : count_beyond(worker, number);
}

/* Something was mapped, or unmapped: numbers may be of other functions from now on. */
static bool begin_pause(struct tally_worker *worker, const struct event_blocks *blocks)
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
static bool count_records(struct tally_worker *worker, const struct event_blocks *blocks,
                          const struct stream_chunk *chunk)
{
    if (chunk->size_bytes % EVENT_HOOK_BYTES != 0)
        return false;
    for (size_t at = 0; at < chunk->size_bytes; at += EVENT_HOOK_BYTES) {
        struct number_count *count;
        uint32_t header;
        uint64_t time;

        memcpy(&header, chunk->bytes + at, sizeof(header));
        memcpy(&time, chunk->bytes + at + EVENT_HOOK_BYTES - sizeof(time), sizeof(time));
        if (!event_record_is_hooked(event_header_record(header)) ||
            event_record_is_of_stack(event_header_record(header)))
            return false;
        worker->last_time = time > worker->last_time ? time : worker->last_time;
        if (worker->last_time >= worker->to && !begin_pause(worker, blocks))
            return false;
        count = count_of(worker, event_header_number(header));
        if (count == NULL)
            return false;
        count->entered += event_header_record(header) == EVENT_RECORD_ENTER;
        count->entered += event_header_record(header) == EVENT_RECORD_PASSED;
        count->left += event_header_record(header) != EVENT_RECORD_ENTER;
    }
    return true;
}

static bool add_counts(struct tally_worker *worker, const struct stream_glance *counts)
{
    for (uint32_t i = 0; i < counts->count; i++) {
        struct number_count *count = count_of(worker, counts->counts[i].number);

        if (count == NULL)
            return false;
        count->entered += counts->counts[i].entered;
        count->left += counts->counts[i].left;
    }
    worker->last_time = counts->last_time > worker->last_time ? counts->last_time : worker->last_time;
    return true;
}

/* Takes a chunk, if there is one, by its counts where nothing is mapped or unmapped in its time. */
static bool count_chunk(struct tally_worker *worker, const struct event_blocks *blocks, struct stream_reader *reader)
{
    struct stream_glance glance;
    struct stream_chunk chunk;

    if (stream_reader_glance(reader, worker->to, &glance) && glance.has_counts) {
        stream_reader_pass(reader);
        return add_counts(worker, &glance);
    }
    return !stream_reader_next(reader, &chunk) || count_records(worker, blocks, &chunk);
}

/* False: it is to be read as events. */
static bool count_piece(struct tally_worker *worker, const struct view_thread *thread, const char *path)
{
    struct stream_reader reader;
    struct trace_block_space space;
    struct event_blocks blocks;
    bool is_good;

    if (stream_reader_open(&reader, worker->trace->files.folder, path, NULL) != 0)
        return false;
    space = (struct trace_block_space){&worker->trace->processes[thread->process].blocks, reader.header.space};
    blocks = trace_blocks_of(&space);
    is_good = reader.header.kind == TRACE_STREAM_INDEX && reader.header.tid == thread->tid &&
              reader.header.events == EVENTS_HOOKED;
    while (is_good && reader.end.state == STREAM_READING)
        is_good = count_chunk(worker, &blocks, &reader);
    is_good = is_good && reader.end.state == STREAM_COMPLETE && settle(worker, &blocks);
    stream_reader_close(&reader);
    return is_good && worker->result == 0;
}

static bool count_pieces(struct tally_worker *worker, size_t thread)
{
    const struct view_thread *shown = &worker->trace->threads[thread];

    for (size_t i = 0; i < shown->piece_count; i++)
        if (!count_piece(worker, shown, shown->pieces[i].path))
            return false;
    return true;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void begin_thread(struct tally_worker *worker, size_t thread)
{
    for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
        function_sums_clear(&worker->sums[bit]);
    if (worker->numbers != NULL)
        memset(worker->numbers, 0, worker->number_capacity * sizeof(*worker->numbers));
    worker->number_count = 0;
    worker->from = worker->to = worker->last_time = 0;
    worker->process = (uint32_t)worker->trace->threads[thread].process;
}

static int keep(struct tally_worker *worker, const struct counted_function *counted)
{
    if (ARRAY_RESERVE(worker->counted, worker->capacity, worker->count + 1) != 0)
        return -ENOMEM;
    worker->counted[worker->count++] = *counted;
    return 0;
}

static int keep_sums(struct tally_worker *worker, size_t thread)
{
    int result = 0;

    for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
        for (size_t i = 0; i < worker->sums[bit].count && result == 0; i++) {
            const struct function_sum *sum = &worker->sums[bit].sums[i];
            uint32_t kind = worker->subject == EVENT_TALLY_EVENTS ? 1u << bit : 0;

            result = keep(worker, &(struct counted_function){thread, sum->address, sum->time, kind, sum->calls});
        }
    return result;
}

static int read_thread(void *context, unsigned number, size_t thread)
{
    struct tally_worker *worker = (struct tally_worker *)context + number;

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
    const struct counted_function *left = left_counted, *right = right_counted;

    if (left->thread != right->thread)
        return left->thread < right->thread ? -1 : 1;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return left->kind < right->kind ? -1 : left->kind > right->kind;
}

static int number_functions(struct event_tally *tally, struct query_source *source, const struct counted_function *all,
                            size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t process = source->trace->threads[all[i].thread].process;
        uint32_t function = query_source_number(source, process, all[i].address, all[i].time);

        if (function == VIEW_NO_FUNCTION)
            return -ENOMEM;
        tally->counts[tally->count++] = (struct event_tally_count){all[i].thread, function, all[i].kind, all[i].count};
    }
    return 0;
}

/* Who read which thread is chance; the order in which functions are numbered is not. */
static int collect(struct event_tally *tally, struct query_source *source, const struct tally_worker *workers)
{
    struct counted_function *all;
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

static void begin_worker(struct tally_worker *worker, const struct view_trace *trace, enum event_tally_subject subject)
{
    worker->trace = trace;
    worker->subject = subject;
    for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
        function_sums_init(&worker->sums[bit], trace);
    worker->scan = (struct event_scan){.trace = trace, .receiver = {take_events, NULL, NULL, NULL}, .context = worker};
}

static void end_worker(struct tally_worker *worker)
{
    for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
        function_sums_deinit(&worker->sums[bit]);
    free(worker->numbers);
    free(worker->counted);
}

int event_tally_init(struct event_tally *tally, struct query_source *source, enum event_tally_subject subject,
                     const bool *threads)
{
    struct tally_worker *workers = calloc(THREAD_PASS_WORKERS, sizeof(*workers));
    const struct thread_pass pass = {
        .trace = source->trace, .wanted = threads, .read = read_thread, .context = workers};
    int result;

    *tally = (struct event_tally){.count = 0};
    if (workers == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < THREAD_PASS_WORKERS; i++)
        begin_worker(&workers[i], source->trace, subject);
    result = thread_pass_run(&pass);
    if (result == 0)
        result = collect(tally, source, workers);
    for (size_t i = 0; i < THREAD_PASS_WORKERS; i++)
        end_worker(&workers[i]);
    free(workers);
    return result;
}

void event_tally_deinit(struct event_tally *tally)
{
    free(tally->counts);
    *tally = (struct event_tally){.count = 0};
}
