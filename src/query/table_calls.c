/* SPDX-License-Identifier: MIT */
/*
 * calls: a row for each call, when it ends. A row is made of numbers; names are looked up when they are asked for.
 * Where only columns of the function and its thread are wanted, rows are counted.
 */
#include "hosted/growing_array.h"
#include "query/counted_rows.h"
#include "query/event_scan.h"
#include "query/place_columns.h"
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
    [CALLS_DEPTH] = {"depth", "INTEGER", "how many calls of the thread are open around it", QUERY_PUSH_NUMBER, false},
    [CALLS_START] = {"start_ns", "INTEGER", "when it began, since the recording did", QUERY_PUSH_NUMBER, false},
    [CALLS_DURATION] = {"duration_ns", "INTEGER", "how long it took", QUERY_PUSH_NUMBER, false},
    [CALLS_SELF] = {"self_ns", "INTEGER", "of that, not in calls that it made", 0, false},
    [CALLS_CALLER] = {"caller", "TEXT", "the call around it; NULL: none is known", 0, false},
    [CALLS_FLAGS] = {"flags", "TEXT", "'guessed' times, 'cut' off, 'unwound', 'no return' was seen; NULL: nothing", 0,
                     false},
    [CALLS_END] = {"end_ns", "INTEGER", "when it ended", 0, true},
};

struct call_row {
    uint32_t function;
    uint32_t caller;
    uint32_t depth;
    uint32_t flags;
    uint64_t begin;
    uint64_t end;
    uint64_t inner;
};

/* A call that has not ended. */
struct open_call {
    uint32_t function;
    bool is_wanted; /* as far as that can be said */
};

struct calls_cursor {
    struct query_cursor base;
    struct event_scan scan;
    struct call_tracker tracker;
    struct place_thread thread;
    struct place_verdicts verdicts;
    bool needs_function;
    uint64_t first_begin; /* the counter: calls that begin from there on */
    uint64_t last_begin;  /* to there, */
    struct query_range duration;
    struct query_range depth;

    struct open_call *open;
    size_t open_count;
    size_t open_capacity;
    size_t wanted_open; /* how many of them are wanted */

    struct call_row *rows; /* of the last chunk */
    size_t row_at;
    size_t row_count;
    size_t row_capacity;

    bool is_counting;
    struct counted_rows counted;
    uint32_t counted_function;

    int result; /* -ENOMEM */
};

static double cost(const struct query_source *source)
{
    return query_source_event_bytes(source) + 100;
}

/* ---- what calls tell --------------------------------------------------------------------------------------------- */

static int begin_call(void *context, const struct view_call *call)
{
    struct calls_cursor *cursor = context;
    struct open_call open = {.function = VIEW_NO_FUNCTION};

    if (call->begin > cursor->last_begin && cursor->wanted_open == 0)
        return 1;
    if (cursor->needs_function) {
        open.function = query_source_number(cursor->base.source, cursor->thread.process, call->function, call->begin);
        if (open.function == VIEW_NO_FUNCTION)
            return cursor->result = -ENOMEM;
    }
    open.is_wanted = call->begin >= cursor->first_begin && call->begin <= cursor->last_begin &&
                     call->depth >= cursor->depth.low && call->depth <= cursor->depth.high &&
                     place_takes_function(&cursor->verdicts, &cursor->base, open.function);
    if (ARRAY_RESERVE(cursor->open, cursor->open_capacity, cursor->open_count + 1) != 0)
        return cursor->result = -ENOMEM;
    cursor->open[cursor->open_count++] = open;
    cursor->wanted_open += open.is_wanted;
    return 0;
}

static bool has_duration(const struct calls_cursor *cursor, const struct view_call *call)
{
    const struct query_source *source = cursor->base.source;
    int64_t duration;

    if (cursor->duration.low == INT64_MIN && cursor->duration.high == INT64_MAX)
        return true;
    duration = (int64_t)(view_trace_ns(source->trace, call->end) - view_trace_ns(source->trace, call->begin));
    return duration >= cursor->duration.low && duration <= cursor->duration.high;
}

static int end_call(void *context, const struct view_call *call)
{
    struct calls_cursor *cursor = context;
    const struct open_call *open = &cursor->open[--cursor->open_count];

    if (!open->is_wanted)
        return 0;
    cursor->wanted_open--;
    if (!has_duration(cursor, call))
        return 0;
    if (ARRAY_RESERVE(cursor->rows, cursor->row_capacity, cursor->row_count + 1) != 0)
        return cursor->result = -ENOMEM;
    cursor->rows[cursor->row_count++] = (struct call_row){
        .function = open->function,
        .caller = cursor->open_count == 0 ? VIEW_NO_FUNCTION : cursor->open[cursor->open_count - 1].function,
        .depth = call->depth,
        .flags = call->flags,
        .begin = call->begin,
        .end = call->end,
        .inner = call->inner,
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

static bool wants_thread(void *context, size_t thread)
{
    const struct calls_cursor *cursor = context;
    struct place_thread place = place_of_thread(cursor->base.source->trace, thread);

    return place_takes_thread(&cursor->base, &place);
}

static void begin_thread(void *context, size_t thread)
{
    struct calls_cursor *cursor = context;
    const struct call_receiver receiver = {begin_call, end_call, NULL, cursor};

    cursor->thread = place_of_thread(cursor->base.source->trace, thread);
    cursor->open_count = cursor->wanted_open = 0;
    call_tracker_init(&cursor->tracker, &receiver);
}

static void end_thread(void *context, size_t thread)
{
    struct calls_cursor *cursor = context;

    (void)thread;
    call_tracker_finish(&cursor->tracker);
    if (cursor->tracker.result < 0)
        cursor->result = cursor->tracker.result;
    call_tracker_deinit(&cursor->tracker);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static bool keeps_order(const struct query_wish *wish)
{
    return counted_rows_suit(wish, COUNTED_CALL_COLUMNS);
}

static uint64_t counter_of(const struct query_source *source, int64_t ns)
{
    return view_clock_counter(&source->trace->clock, ns < 0 ? 0 : (uint64_t)ns);
}

static int begin(struct query_cursor *base)
{
    struct calls_cursor *cursor = (struct calls_cursor *)base;
    struct query_range start = query_filter_range(&base->filter, CALLS_START);

    cursor->scan = (struct event_scan){
        .trace = base->source->trace,
        .receiver = {take_events, lose_events, skip_events, NULL},
        .wants = wants_thread,
        .begin = begin_thread,
        .end = end_thread,
        .context = cursor,
    };
    place_verdicts_init(&cursor->verdicts, base);
    cursor->needs_function = place_needs_function(base) || query_wants(&base->wish, CALLS_CALLER);
    cursor->duration = query_filter_range(&base->filter, CALLS_DURATION);
    cursor->depth = query_filter_range(&base->filter, CALLS_DEPTH);
    cursor->first_begin = counter_of(base->source, start.low);
    cursor->last_begin = start.high < 0            ? 0
                         : start.high == INT64_MAX ? UINT64_MAX
                                                   : counter_of(base->source, start.high + 1) - 1;
    /* How deep a call is, and in whom, follows from those before it. */
    if (!query_wants(&base->wish, CALLS_DEPTH) && !query_wants(&base->wish, CALLS_CALLER))
        cursor->scan.skip_before = cursor->first_begin;
    /* Who wants but a few rows should not wait for all. */
    cursor->is_counting = counted_rows_suit(&base->wish, COUNTED_CALL_COLUMNS) &&
                          (base->wish.order_count != 0 || !base->wish.has_limit || counted_rows_weigh(base));
    return cursor->is_counting ? counted_rows_init(&cursor->counted, base, EVENT_TALLY_CALLS) : 0;
}

static int next_counted(struct calls_cursor *cursor)
{
    const struct event_tally_count *counted = counted_rows_next(&cursor->counted, 0);

    if (counted == NULL)
        return 0;
    cursor->thread = place_of_thread(cursor->base.source->trace, counted->thread);
    cursor->counted_function = counted->function;
    return 1;
}

static int next(struct query_cursor *base)
{
    struct calls_cursor *cursor = (struct calls_cursor *)base;
    bool goes_on = true;

    if (cursor->is_counting)
        return next_counted(cursor);
    if (++cursor->row_at < cursor->row_count)
        return 1;
    cursor->row_at = cursor->row_count = 0;
    while (goes_on && cursor->row_count == 0 && cursor->result == 0)
        goes_on = event_scan_step(&cursor->scan);
    return cursor->result != 0 ? cursor->result : cursor->row_count != 0;
}

static void put_flags(sqlite3_context *result, uint32_t flags)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } names[] = {
        {CALL_GUESSED, "guessed"}, {CALL_CUT, "cut"}, {CALL_UNWOUND, "unwound"}, {CALL_NO_RETURN, "no return"}};
    char text[64] = "";

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (flags & names[i].flag)
            strcat(strcat(text, text[0] == '\0' ? "" : ","), names[i].name);
    if (text[0] != '\0')
        sqlite3_result_text(result, text, -1, SQLITE_TRANSIENT);
}

static void column(struct query_cursor *base, sqlite3_context *result, int which)
{
    struct calls_cursor *cursor = (struct calls_cursor *)base;
    const struct view_trace *trace = base->source->trace;
    const struct call_row *row = &cursor->rows[cursor->row_at];

    if (which < PLACE_COLUMNS) {
        place_column_put(base, result, which, &cursor->thread,
                         cursor->is_counting ? cursor->counted_function : row->function);
        return;
    }
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
        sqlite3_result_int64(result, query_source_span_ns(base->source, row->end - row->begin - row->inner));
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

    event_scan_deinit(&cursor->scan);
    call_tracker_deinit(&cursor->tracker);
    query_source_note(base->source, cursor->scan.problem, &cursor->scan.why);
    place_verdicts_deinit(&cursor->verdicts);
    free(cursor->open);
    free(cursor->rows);
    if (cursor->is_counting)
        counted_rows_deinit(&cursor->counted);
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
    .next = next,
    .column = column,
    .end = end,
};
