/* SPDX-License-Identifier: MIT */
/*
 * Each worker takes threads until there are none, and sums by process, address and the time in which a module stays
 * what it is. Only at the end are these numbered, by one of them: numbers and names are for one thread at a time.
 */
#include "query/call_totals.h"

#include "query/event_scan.h"
#include "view/call_tracker.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORKERS_MAX    16
#define SLOTS_AT_FIRST 1024u
#define OPEN_AT_FIRST  256u

/* Of a function, while what is mapped stays the same. */
struct sum {
    uint64_t address;
    uint64_t from; /* the counter */
    uint64_t to;
    uint64_t time; /* of the first call */
    uint32_t process;
    uint32_t open_count; /* calls of the thread that is read */
    struct call_total total;
};

struct worker {
    const struct view_trace *trace;
    atomic_size_t *next_thread; /* of all workers */
    struct event_scan scan;
    struct call_tracker tracker;
    struct sum *sums;
    size_t count;
    size_t capacity;
    uint32_t *slots; /* numbers of sums, and 1, by address; a power of two */
    size_t slot_count;
    uint32_t *open; /* which sums the open calls are of */
    size_t open_count;
    size_t open_capacity;
    uint32_t process;
    pthread_t thread;
    bool is_started;
    int result; /* -ENOMEM */
};

/* ---- finding the sum --------------------------------------------------------------------------------------------- */

static size_t slot_of(const struct worker *worker, uint32_t process, uint64_t address)
{
    return (size_t)(((address ^ (uint64_t)process << 40) * 0x9e3779b97f4a7c15u) >> 32) & (worker->slot_count - 1);
}

static bool is_of(const struct sum *sum, uint32_t process, uint64_t address, uint64_t time)
{
    return sum->address == address && sum->process == process && sum->from <= time && time < sum->to;
}

static int grow_sums(struct worker *worker)
{
    size_t capacity = worker->capacity == 0 ? SLOTS_AT_FIRST / 2 : 2 * worker->capacity;
    struct sum *grown = realloc(worker->sums, capacity * sizeof(*grown));
    uint32_t *slots = calloc(2 * capacity, sizeof(*slots));

    if (grown != NULL)
        worker->sums = grown;
    if (grown == NULL || slots == NULL) {
        free(slots);
        return -ENOMEM;
    }
    free(worker->slots);
    worker->slots = slots;
    worker->slot_count = 2 * capacity;
    worker->capacity = capacity;
    for (size_t i = 0; i < worker->count; i++) {
        size_t at = slot_of(worker, grown[i].process, grown[i].address);

        while (slots[at] != 0)
            at = (at + 1) & (worker->slot_count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    return 0;
}

static void begin_sum(struct worker *worker, struct sum *sum, uint64_t address, uint64_t time)
{
    const struct modules *modules = &worker->trace->processes[worker->process].modules;
    const struct module *module = modules_find(modules, address, time, time);

    *sum = (struct sum){.address = address, .time = time, .process = worker->process};
    sum->total.shortest = UINT64_MAX;
    if (module != NULL) {
        sum->from = module->loaded;
        sum->to = module->unloaded;
    } else {
        query_module_pause(modules, time, &sum->from, &sum->to);
    }
}

/* Where the function's sum is; UINT32_MAX: there is no memory. */
static uint32_t find_sum(struct worker *worker, uint64_t address, uint64_t time)
{
    size_t at;

    if (worker->count == worker->capacity && grow_sums(worker) != 0)
        return UINT32_MAX;
    at = slot_of(worker, worker->process, address);
    while (worker->slots[at] != 0 && !is_of(&worker->sums[worker->slots[at] - 1], worker->process, address, time))
        at = (at + 1) & (worker->slot_count - 1);
    if (worker->slots[at] == 0) {
        begin_sum(worker, &worker->sums[worker->count], address, time);
        worker->slots[at] = (uint32_t)++worker->count;
    }
    return worker->slots[at] - 1;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static int begin_call(void *context, const struct view_call *call)
{
    struct worker *worker = context;
    uint32_t sum = find_sum(worker, call->function, call->begin);

    if (worker->open_count == worker->open_capacity) {
        size_t capacity = worker->open_capacity == 0 ? OPEN_AT_FIRST : 2 * worker->open_capacity;
        uint32_t *grown = realloc(worker->open, capacity * sizeof(*grown));

        if (grown == NULL)
            return worker->result = -ENOMEM;
        worker->open = grown;
        worker->open_capacity = capacity;
    }
    if (sum == UINT32_MAX)
        return worker->result = -ENOMEM;
    worker->open[worker->open_count++] = sum;
    worker->sums[sum].open_count++;
    return 0;
}

static int end_call(void *context, const struct view_call *call)
{
    struct worker *worker = context;
    struct sum *sum = &worker->sums[worker->open[--worker->open_count]];
    uint64_t ticks = call->end - call->begin;

    sum->total.calls++;
    sum->total.self += ticks - call->inner;
    sum->total.total += --sum->open_count == 0 ? ticks : 0;
    sum->total.shortest = ticks < sum->total.shortest ? ticks : sum->total.shortest;
    sum->total.longest = ticks > sum->total.longest ? ticks : sum->total.longest;
    return 0;
}

static int take_events(void *context, const struct gait_event *events, size_t count, const struct trace_span *span)
{
    return call_tracker_take(&((struct worker *)context)->tracker, events, count, span);
}

static void lose_events(void *context, uint64_t bytes)
{
    call_tracker_lose(&((struct worker *)context)->tracker, bytes);
}

static void skip_events(void *context)
{
    call_tracker_lose(&((struct worker *)context)->tracker, 0);
}

static void begin_thread(void *context, size_t thread)
{
    struct worker *worker = context;
    const struct call_receiver receiver = {begin_call, end_call, NULL, worker};

    worker->process = (uint32_t)worker->trace->threads[thread].process;
    call_tracker_init(&worker->tracker, &receiver);
}

static void end_thread(void *context, size_t thread)
{
    struct worker *worker = context;

    (void)thread;
    call_tracker_finish(&worker->tracker);
    if (worker->tracker.result != 0)
        worker->result = worker->tracker.result;
    call_tracker_deinit(&worker->tracker);
}

static void *work(void *context)
{
    struct worker *worker = context;
    size_t thread;

    worker->scan = (struct event_scan){
        .trace = worker->trace,
        .receiver = {take_events, lose_events, skip_events, NULL},
        .begin = begin_thread,
        .end = end_thread,
        .context = worker,
    };
    while (worker->result == 0 && (thread = atomic_fetch_add(worker->next_thread, 1)) < worker->trace->thread_count)
        event_scan_read(&worker->scan, thread);
    return NULL;
}

/* ---- putting it together ----------------------------------------------------------------------------------------- */

static int make_room(struct call_totals *totals, uint32_t number)
{
    size_t count = (size_t)number + 1 + number / 2;
    struct call_total *grown;

    if (number < totals->count)
        return 0;
    grown = realloc(totals->totals, count * sizeof(*grown));
    if (grown == NULL)
        return -ENOMEM;
    for (size_t i = totals->count; i < count; i++)
        grown[i] = (struct call_total){.function = (uint32_t)i, .shortest = UINT64_MAX};
    totals->totals = grown;
    totals->count = count;
    return 0;
}

static int add_sum(struct call_totals *totals, struct query_source *source, const struct sum *sum)
{
    uint32_t number = query_source_number(source, sum->process, sum->address, sum->time);
    struct call_total *total;

    if (number == VIEW_NO_FUNCTION || make_room(totals, number) != 0)
        return -ENOMEM;
    total = &totals->totals[number];
    total->calls += sum->total.calls;
    total->total += sum->total.total;
    total->self += sum->total.self;
    total->shortest = sum->total.shortest < total->shortest ? sum->total.shortest : total->shortest;
    total->longest = sum->total.longest > total->longest ? sum->total.longest : total->longest;
    return 0;
}

static int collect(struct call_totals *totals, struct query_source *source, struct worker *worker)
{
    int result = worker->result;

    for (size_t i = 0; i < worker->count && result == 0; i++)
        result = add_sum(totals, source, &worker->sums[i]);
    query_source_note(source, worker->scan.problem, &worker->scan.why);
    free(worker->sums);
    free(worker->slots);
    free(worker->open);
    return result;
}

static size_t workers_for(const struct view_trace *trace)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t count = processors < 1 ? 1 : processors > WORKERS_MAX ? WORKERS_MAX : (size_t)processors;

    return trace->thread_count < count ? trace->thread_count : count;
}

int call_totals_create(struct call_totals **totals_out, struct query_source *source)
{
    struct call_totals *totals = calloc(1, sizeof(*totals));
    struct worker *workers = calloc(WORKERS_MAX, sizeof(*workers));
    size_t count = workers_for(source->trace);
    atomic_size_t next_thread = 0;
    int result = totals == NULL || workers == NULL ? -ENOMEM : 0;

    for (size_t i = 0; i < count && result == 0; i++) {
        workers[i].trace = source->trace;
        workers[i].next_thread = &next_thread;
        /* The last one is who asks; one that cannot be started leaves its work to the others. */
        if (i + 1 == count)
            work(&workers[i]);
        else
            workers[i].is_started = pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
    }
    for (size_t i = 0; workers != NULL && i < count; i++) {
        int of_one;

        if (workers[i].is_started)
            pthread_join(workers[i].thread, NULL);
        of_one = collect(totals, source, &workers[i]);
        result = result == 0 ? of_one : result;
    }
    free(workers);
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
