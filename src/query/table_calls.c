/* SPDX-License-Identifier: MIT */
/*
 * calls: a row for each call, when it ends. A row is made of numbers; names are looked up when they are asked for.
 * Where only columns of the function and its thread are wanted, rows are counted.
 */
#include "hosted/growing_array.h"
#include "query/scanned_rows.h"
#include "view/call_tracker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum calls_column {
    CALLS_DEPTH = PLACE_COLUMNS,
    CALLS_START,
    CALLS_DURATION,
    CALLS_SELF,
    CALLS_CALLER,
    CALLS_FLAGS,
    CALLS_END,
    CALLS_COLUMNS,
};

static const struct query_column columns[] = {
    PLACE_COLUMN_LIST("the function that was called"),
    [CALLS_DEPTH] = {"depth", "INTEGER", "how many calls of the thread are open around it", QUERY_PUSH_NUMBER},
    [CALLS_START] = {"start_ns", "INTEGER", "when it began, since the recording did", QUERY_PUSH_NUMBER},
    [CALLS_DURATION] = {"duration_ns", "INTEGER", "how long it took; NULL: only its entry was seen", QUERY_PUSH_NUMBER},
    [CALLS_SELF] = {"self_ns", "INTEGER", "of that, not in calls that it made", 0},
    [CALLS_CALLER] = {"caller", "TEXT", "the call around it; NULL: none is known", 0},
    [CALLS_FLAGS] = {"flags", "TEXT",
                     "'guessed' times, 'cut' off, 'unwound', 'no return' was seen, 'suspended' or 'resumed': a part of "
                     "a call, 'entry only': it is not known when it ended; NULL: nothing",
                     0},
    [CALLS_END] = {"end_ns", "INTEGER", "when it ended", 0},
};

struct call_row {
    uint32_t function;
    uint32_t caller;
    uint32_t depth;
    uint32_t flags;
    uint64_t begin;
    uint64_t end;
    uint64_t inner_ns;
};

/* A call that has not ended. */
struct open_table_call {
    uint32_t function;
    bool is_wanted;    /* as far as that can be said */
    uint64_t inner_ns; /* in calls that it made */
};

struct calls_cursor {
    struct scanned_rows scanned;
    struct call_tracker tracker;
    bool needs_function;
    bool needs_inner;
    struct query_range duration;
    struct query_range depth;

    struct open_table_call *open;
    size_t open_count;
    size_t open_capacity;
    size_t wanted_open; /* how many of them are wanted */
};

static double cost(const struct query_source *source)
{
    return query_source_event_bytes(source) + 100;
}

/* ---- what calls tell --------------------------------------------------------------------------------------------- */

static int begin_call(void *context, const struct view_call *call)
{
    struct calls_cursor *cursor = context;
    struct scanned_rows *rows = &cursor->scanned;
    struct open_table_call open = {.function = VIEW_NO_FUNCTION};

    if (call->begin > rows->last && cursor->wanted_open == 0)
        return 1;
    if (cursor->needs_function) {
        open.function = query_source_number(rows->base.source, rows->thread.process, call->function, call->begin);
        if (open.function == VIEW_NO_FUNCTION)
            return rows->result = -ENOMEM;
    }
    open.is_wanted = call->begin >= rows->first && call->begin <= rows->last && call->depth >= cursor->depth.low &&
                     call->depth <= cursor->depth.high &&
                     place_takes_function(&rows->verdicts, &rows->base, open.function);
    if (ARRAY_RESERVE(cursor->open, cursor->open_capacity, cursor->open_count + 1) != 0)
        return rows->result = -ENOMEM;
    cursor->open[cursor->open_count++] = open;
    cursor->wanted_open += open.is_wanted;
    return 0;
}

static uint64_t duration_of(const struct calls_cursor *cursor, const struct view_call *call)
{
    const struct view_trace *trace = cursor->scanned.base.source->trace;

    return view_trace_ns(trace, call->end) - view_trace_ns(trace, call->begin);
}

static bool has_duration(const struct calls_cursor *cursor, const struct view_call *call)
{
    int64_t duration;

    if (cursor->duration.low == INT64_MIN && cursor->duration.high == INT64_MAX)
        return true;
    if (call->flags & CALL_ENTRY_ONLY)
        return false;
    duration = (int64_t)duration_of(cursor, call);
    return duration >= cursor->duration.low && duration <= cursor->duration.high;
}

static int end_call(void *context, const struct view_call *call)
{
    struct calls_cursor *cursor = context;
    const struct open_table_call *open = &cursor->open[--cursor->open_count];
    struct call_row *row;

    if (cursor->needs_inner && cursor->open_count != 0)
        cursor->open[cursor->open_count - 1].inner_ns += duration_of(cursor, call);
    if (!open->is_wanted)
        return 0;
    cursor->wanted_open--;
    if (!has_duration(cursor, call))
        return 0;
    row = scanned_rows_add(&cursor->scanned);
    if (row == NULL)
        return -ENOMEM;
    *row = (struct call_row){
        .function = open->function,
        .caller = cursor->open_count == 0 ? VIEW_NO_FUNCTION : cursor->open[cursor->open_count - 1].function,
        .depth = call->depth,
        .flags = call->flags,
        .begin = call->begin,
        .end = call->end,
        .inner_ns = open->inner_ns,
    };
    return 0;
}

/* ---- reading events ---------------------------------------------------------------------------------------------- */

static int take_events(void *context, const struct gait_event *events, size_t count, const struct trace_span *span)
{
    return call_tracker_take(&((struct calls_cursor *)context)->tracker, events, count, span);
}

static void lose_events(void *context, uint64_t bytes)
{
    call_tracker_lose(&((struct calls_cursor *)context)->tracker, bytes);
}

static void skip_events(void *context)
{
    call_tracker_lose(&((struct calls_cursor *)context)->tracker, 0);
}

static void begin_thread(void *context, size_t thread)
{
    struct calls_cursor *cursor = context;
    const struct call_receiver receiver = {begin_call, end_call, NULL, cursor, NULL};

    const struct view_trace *trace = cursor->scanned.base.source->trace;

    cursor->open_count = cursor->wanted_open = 0;
    call_tracker_init(&cursor->tracker, &receiver);
    call_tracker_know_goroutines(&cursor->tracker, trace->processes[trace->threads[thread].process].goroutines, thread);
}

static void end_thread(void *context, size_t thread)
{
    struct calls_cursor *cursor = context;

    (void)thread;
    call_tracker_finish(&cursor->tracker);
    if (cursor->tracker.result < 0)
        cursor->scanned.result = cursor->tracker.result;
    call_tracker_deinit(&cursor->tracker);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static bool keeps_order(const struct query_wish *wish)
{
    return counted_rows_suit(wish, COUNTED_CALL_COLUMNS);
}

static int begin(struct query_cursor *base)
{
    static const struct scanned_rows_kind kind = {
        .receiver = {take_events, lose_events, skip_events, NULL},
        .begin = begin_thread,
        .end = end_thread,
        .row_bytes = sizeof(struct call_row),
        .time_column = CALLS_START,
        .counted_column = COUNTED_CALL_COLUMNS,
        .subject = EVENT_TALLY_CALLS,
    };
    struct calls_cursor *cursor = (struct calls_cursor *)base;
    int result = scanned_rows_begin(&cursor->scanned, &kind);

    cursor->needs_function = place_needs_function(base) || query_wants(&base->wish, CALLS_CALLER);
    cursor->needs_inner = query_wants(&base->wish, CALLS_SELF);
    cursor->duration = query_filter_range(&base->filter, CALLS_DURATION);
    cursor->depth = query_filter_range(&base->filter, CALLS_DEPTH);
    /* How deep a call is, and in whom, follows from those before it. */
    if (!query_wants(&base->wish, CALLS_DEPTH) && !query_wants(&base->wish, CALLS_CALLER))
        cursor->scanned.scan.skip_before = cursor->scanned.first;
    return result;
}

static void put_flags(sqlite3_context *result, uint32_t flags)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } names[] = {{CALL_GUESSED, "guessed"},      {CALL_CUT, "cut"},
                 {CALL_UNWOUND, "unwound"},      {CALL_NO_RETURN, "no return"},
                 {CALL_SUSPENDED, "suspended"},  {CALL_RESUMED, "resumed"},
                 {CALL_ENTRY_ONLY, "entry only"}};
    char text[64] = "";

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (flags & names[i].flag)
            strcat(strcat(text, text[0] == '\0' ? "" : ","), names[i].name);
    if (text[0] != '\0')
        sqlite3_result_text(result, text, -1, SQLITE_TRANSIENT);
}

static void column(struct query_cursor *base, sqlite3_context *result, int which)
{
    const struct scanned_rows *rows = (struct scanned_rows *)base;
    const struct view_trace *trace = base->source->trace;
    const struct call_row *row = scanned_rows_row(rows);

    if (which < PLACE_COLUMNS) {
        place_column_put(base, result, which, &rows->thread,
                         rows->is_counting ? rows->counted_row->function : row->function);
        return;
    }
    /* Nobody knows: NULL. */
    if (row->flags & CALL_ENTRY_ONLY && (which == CALLS_END || which == CALLS_DURATION || which == CALLS_SELF))
        return;
    switch (which) {
    case CALLS_DEPTH:
        sqlite3_result_int64(result, row->depth);
        break;
    case CALLS_START:
        sqlite3_result_int64(result, (int64_t)view_trace_ns(trace, row->begin));
        break;
    case CALLS_END:
        sqlite3_result_int64(result, (int64_t)view_trace_ns(trace, row->end));
        break;
    case CALLS_DURATION:
        sqlite3_result_int64(result, (int64_t)(view_trace_ns(trace, row->end) - view_trace_ns(trace, row->begin)));
        break;
    case CALLS_SELF:
        sqlite3_result_int64(
            result, (int64_t)(view_trace_ns(trace, row->end) - view_trace_ns(trace, row->begin) - row->inner_ns));
        break;
    case CALLS_CALLER:
        place_name_put(base->source, result, row->caller);
        break;
    default:
        put_flags(result, row->flags);
        break;
    }
}

static void end(struct query_cursor *base)
{
    struct calls_cursor *cursor = (struct calls_cursor *)base;

    scanned_rows_end(&cursor->scanned);
    call_tracker_deinit(&cursor->tracker);
    free(cursor->open);
}

extern const struct query_table query_table_calls;
const struct query_table query_table_calls = {
    .name = "calls",
    .meaning = "calls of functions, when they end",
    .columns = columns,
    .column_count = CALLS_COLUMNS,
    .cursor_bytes = sizeof(struct calls_cursor),
    .cost = cost,
    .keeps_order = keeps_order,
    .begin = begin,
    .next = scanned_rows_next,
    .column = column,
    .end = end,
};
