/* SPDX-License-Identifier: MIT */
/*
 * losses: what is missing. First what processes could not record at all, then each place in the events of threads, then
 * each place in their details. `count` is of things, `bytes` of records: one of them is NULL.
 */
#include "hosted/growing_array.h"
#include "query/detail_scan.h"
#include "query/event_scan.h"

#include <errno.h>
#include <stdlib.h>

enum losses_column {
    LOSSES_REASON,
    LOSSES_PID,
    LOSSES_TID,
    LOSSES_THREAD,
    LOSSES_TIME,
    LOSSES_BYTES,
    LOSSES_COUNT,
    LOSSES_COLUMNS,
};

static const struct query_column columns[] = {
    [LOSSES_REASON] = {"reason", "TEXT",
                       "'lost': not read in time, or damaged; 'left out': not asked for; 'no lane', 'no room', "
                       "'no memory', 'not hooked'; 'not written': the disk was full, or failed; 'lost details', "
                       "'left out details'",
                       0},
    [LOSSES_PID] = {"pid", "INTEGER", "the process", 0},
    [LOSSES_TID] = {"tid", "INTEGER", "the thread; NULL: of the whole process, or not known", 0},
    [LOSSES_THREAD] = {"thread", "TEXT", "the thread's name", 0},
    [LOSSES_TIME] = {"time_ns", "INTEGER", "of the last record before the loss; NULL: none, or not known", 0},
    [LOSSES_BYTES] = {"bytes", "INTEGER", "of records; NULL: not known", 0},
    [LOSSES_COUNT] = {"count", "INTEGER", "of blocks, modules or functions", 0},
};

struct loss {
    const char *reason;
    uint32_t pid;
    uint32_t tid; /* 0: of no thread */
    const char *thread;
    uint64_t time; /* 0: not known */
    uint64_t bytes;
    uint64_t count;
};

struct losses_cursor {
    struct query_cursor base;
    size_t next_process;
    struct event_scan events;
    bool events_are_over;
    struct detail_scan details;
    uint64_t last_seen; /* of the thread */

    struct loss *losses; /* of one process, or one chunk */
    size_t at;
    size_t count;
    size_t capacity;
    int result; /* -ENOMEM */
};

static double cost(const struct query_source *source)
{
    return query_source_event_bytes(source) / 4 + 100;
}

static void add(struct losses_cursor *cursor, const struct loss *loss)
{
    if (ARRAY_RESERVE(cursor->losses, cursor->capacity, cursor->count + 1) != 0) {
        cursor->result = -ENOMEM;
        return;
    }
    cursor->losses[cursor->count++] = *loss;
}

/* ---- of processes ------------------------------------------------------------------------------------------------ */

/* Of what was not read in time, how much has no place in a thread: at its end, there is nobody to say so. */
static uint64_t without_place(const struct manifest_process *process)
{
    uint64_t placed = 0;

    for (size_t i = 0; i < process->thread_count; i++)
        placed += process->threads[i].lost_bytes + process->threads[i].lost_detail_bytes;
    return process->losses.late_bytes > placed ? process->losses.late_bytes - placed : 0;
}

static void add_process(struct losses_cursor *cursor, const struct manifest_process *process)
{
    const struct manifest_losses *losses = &process->losses;
    const struct loss all[] = {
        {.reason = "lost", .pid = process->pid, .bytes = without_place(process)},
        {.reason = "no lane", .pid = process->pid, .bytes = losses->no_lane_bytes},
        {.reason = "no room", .pid = process->pid, .count = losses->no_room_count},
        {.reason = "no memory", .pid = process->pid, .count = losses->no_memory_count},
        {.reason = "not hooked", .pid = process->pid, .count = losses->not_hooked_count},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i].bytes != 0 || all[i].count != 0)
            add(cursor, &all[i]);
    for (size_t i = 0; i < process->thread_count; i++)
        if (process->threads[i].unwritten_bytes != 0)
            add(cursor, &(struct loss){.reason = "not written",
                                       .pid = process->pid,
                                       .tid = process->threads[i].tid,
                                       .thread = process->threads[i].name,
                                       .bytes = process->threads[i].unwritten_bytes});
}

/* ---- of events --------------------------------------------------------------------------------------------------- */

static int see_events(void *context, const struct gait_event *events, size_t count, const struct trace_span *span)
{
    struct losses_cursor *cursor = context;
    uint64_t time = trace_span_time(span, events, count, count - 1);

    if (time > cursor->last_seen)
        cursor->last_seen = time;
    return cursor->result;
}

static void add_place(struct losses_cursor *cursor, uint64_t bytes)
{
    size_t thread = cursor->events.thread;
    const struct view_trace *trace = cursor->base.source->trace;

    add(cursor, &(struct loss){
                    .reason = bytes == 0 ? "left out" : "lost",
                    .pid = view_trace_process_of(trace, thread)->pid,
                    .tid = trace->threads[thread].tid,
                    .thread = trace->threads[thread].name,
                    .time = cursor->last_seen,
                    .bytes = bytes,
                });
}

static void lose_events(void *context, uint64_t bytes)
{
    add_place(context, bytes);
}

static void skip_events(void *context)
{
    add_place(context, 0);
}

static void begin_thread(void *context, size_t thread)
{
    (void)thread;
    ((struct losses_cursor *)context)->last_seen = 0;
}

/* ---- of details -------------------------------------------------------------------------------------------------- */

/* False: there are no more. */
static bool read_details(struct losses_cursor *cursor)
{
    struct detail_scan *scan = &cursor->details;
    enum detail_step step = detail_scan_step(scan);

    if (step == DETAIL_STEP_GAP)
        add(cursor, &(struct loss){
                        .reason = scan->lost_bytes == 0 ? "left out details" : "lost details",
                        .pid = cursor->base.source->trace->processes[scan->thread.process].pid,
                        .tid = scan->thread.tid,
                        .thread = scan->thread.name,
                        .time = scan->time,
                        .bytes = scan->lost_bytes,
                    });
    return step != DETAIL_STEP_OVER;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static int begin(struct query_cursor *base)
{
    struct losses_cursor *cursor = (struct losses_cursor *)base;

    cursor->events = (struct event_scan){
        .trace = base->source->trace,
        .receiver = {see_events, lose_events, skip_events, NULL},
        .begin = begin_thread,
        .context = cursor,
    };
    cursor->details = (struct detail_scan){.source = base->source};
    return 0;
}

/* Looks a step further. False: there is nothing any more. */
static bool look(struct losses_cursor *cursor)
{
    const struct manifest *manifest = &cursor->base.source->trace->manifest;

    if (cursor->next_process < manifest->process_count) {
        add_process(cursor, &manifest->processes[cursor->next_process++]);
        return true;
    }
    if (!cursor->events_are_over) {
        cursor->events_are_over = !event_scan_step(&cursor->events);
        return true;
    }
    return read_details(cursor);
}

static int next(struct query_cursor *base)
{
    struct losses_cursor *cursor = (struct losses_cursor *)base;

    if (++cursor->at < cursor->count)
        return 1;
    cursor->at = cursor->count = 0;
    while (cursor->count == 0 && cursor->result == 0 && look(cursor))
        ;
    return cursor->result != 0 ? cursor->result : cursor->count != 0;
}

static void column(struct query_cursor *base, sqlite3_context *result, int which)
{
    struct losses_cursor *cursor = (struct losses_cursor *)base;
    const struct loss *loss = &cursor->losses[cursor->at];

    if (which == LOSSES_REASON)
        place_text_put(result, loss->reason);
    else if (which == LOSSES_PID)
        sqlite3_result_int64(result, loss->pid);
    else if (which == LOSSES_TID && loss->tid != 0)
        sqlite3_result_int64(result, loss->tid);
    else if (which == LOSSES_THREAD)
        place_text_put(result, loss->thread);
    else if (which == LOSSES_TIME && loss->time != 0)
        sqlite3_result_int64(result, (int64_t)view_trace_ns(base->source->trace, loss->time));
    else if (which == LOSSES_BYTES && loss->bytes != 0)
        sqlite3_result_int64(result, (int64_t)loss->bytes);
    else if (which == LOSSES_COUNT && loss->count != 0)
        sqlite3_result_int64(result, (int64_t)loss->count);
}

static void end(struct query_cursor *base)
{
    struct losses_cursor *cursor = (struct losses_cursor *)base;

    event_scan_deinit(&cursor->events);
    query_source_note(base->source, cursor->events.problem, &cursor->events.why);
    detail_scan_deinit(&cursor->details);
    free(cursor->losses);
}

extern const struct query_table query_table_losses;
const struct query_table query_table_losses = {
    .name = "losses",
    .meaning = "what is missing in the trace, and where",
    .columns = columns,
    .column_count = LOSSES_COLUMNS,
    .cursor_bytes = sizeof(struct losses_cursor),
    .cost = cost,
    .begin = begin,
    .next = next,
    .column = column,
    .end = end,
};
