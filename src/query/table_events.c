/* SPDX-License-Identifier: MIT */
/*
 * events: all that was recorded of threads, a row each, as `gait dump events` writes it. Where only columns of the
 * function, its thread and the kind are wanted, and an order or nothing but count(*) of them, rows are counted.
 */
#include "query/scanned_rows.h"
#include "trace/event_names.h"

#include <errno.h>

enum events_column {
    EVENTS_KIND = PLACE_COLUMNS,
    EVENTS_TIME,
    EVENTS_IS_GUESSED,
    EVENTS_DEPTH,
    EVENTS_TARGET_FUNCTION,
    EVENTS_TARGET,
    EVENTS_IS_UNWOUND,
    EVENTS_IS_ENTRY_ONLY,
    EVENTS_NUMBER,
    EVENTS_COLUMNS,
};

_Static_assert(EVENTS_KIND + 1 == COUNTED_EVENT_COLUMNS, "the kind is the last column that can be counted");

static const struct query_column columns[] = {
    PLACE_COLUMN_LIST("where it happened, with the place: of enter and leave, the function"),
    [EVENTS_KIND] = {"kind", "TEXT", "'enter', 'leave', 'call', 'ret', 'block', 'exec' or 'compile'", QUERY_PUSH_TEXT},
    [EVENTS_TIME] = {"time_ns", "INTEGER", "when, since the recording began", QUERY_PUSH_NUMBER},
    [EVENTS_IS_GUESSED] = {"is_guessed", "INTEGER", "1: that time is between others that are known, no more", 0},
    [EVENTS_DEPTH] = {"depth", "INTEGER", "how deep calls are; NULL of blocks and instructions", 0},
    [EVENTS_TARGET_FUNCTION] = {"target_function", "TEXT", "of calls and returns: where they go", 0},
    [EVENTS_TARGET] = {"target", "INTEGER", "the same as an address; where a block ends", 0},
    [EVENTS_IS_UNWOUND] = {"is_unwound", "INTEGER", "1: an exception or a long jump ended the function", 0},
    [EVENTS_IS_ENTRY_ONLY] = {"is_entry_only", "INTEGER",
                              "1 of a leave: when the function ended was not seen, and is not known", 0},
    [EVENTS_NUMBER] = {"number", "INTEGER", "which event of its thread it is, from 1 on: their order", 0},
};

struct event_row {
    uint32_t kind;
    int32_t depth;
    uint64_t location;
    uint64_t target;
    uint64_t time;
    uint32_t function;
    bool is_guessed;
    bool is_unwound;
    bool is_entry_only;
    uint64_t number;
};

struct events_cursor {
    struct scanned_rows scanned; /* `kinds` are those that are wanted */
    bool needs_function;
    uint64_t last_seen; /* of the thread: times do not go back */
    uint64_t number;    /* of its last event */
};

static double cost(const struct query_source *source)
{
    return 2 * query_source_event_bytes(source) + 100;
}

static int take_event(struct events_cursor *cursor, const struct gait_event *event, uint64_t time, bool is_guessed)
{
    struct scanned_rows *rows = &cursor->scanned;
    uint32_t function = VIEW_NO_FUNCTION;
    struct event_row *row;

    if (event->kind == GAIT_EVENT_GOROUTINE || time < rows->first || !(event->kind & rows->kinds))
        return 0;
    if (cursor->needs_function) {
        function = query_source_number(rows->base.source, rows->thread.process, event->location, time);
        if (!place_takes_function(&rows->verdicts, &rows->base, function))
            return 0;
    }
    row = scanned_rows_add(rows);
    if (row == NULL)
        return -ENOMEM;
    *row = (struct event_row){
        .kind = event->kind,
        .depth = event->depth,
        .location = event->location,
        .target = event->target,
        .time = time,
        .function = function,
        .is_guessed = is_guessed,
        .is_unwound = event->is_unwound != 0,
        .is_entry_only = event->is_entry_only != 0,
        .number = cursor->number,
    };
    return 0;
}

static int take_events(void *context, const struct gait_event *events, size_t count, const struct trace_span *span)
{
    struct events_cursor *cursor = context;

    for (size_t i = 0; i < count && cursor->scanned.result == 0; i++) {
        uint64_t time = trace_span_time(span, events, count, i);

        if (time > cursor->last_seen)
            cursor->last_seen = time;
        if (cursor->last_seen > cursor->scanned.last)
            return 1;
        cursor->number++;
        take_event(cursor, &events[i], cursor->last_seen, span->is_interpolated);
    }
    return cursor->scanned.result;
}

static void begin_thread(void *context, size_t thread)
{
    struct events_cursor *cursor = context;

    (void)thread;
    cursor->last_seen = cursor->number = 0;
}

static uint32_t wanted_kinds(const struct query_filter *filter)
{
    uint32_t kinds = 0;

    for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
        if (query_filter_takes_text(filter, EVENTS_KIND, event_name(bit)))
            kinds |= 1u << bit;
    return kinds;
}

static bool keeps_order(const struct query_wish *wish)
{
    return counted_rows_suit(wish, COUNTED_EVENT_COLUMNS);
}

static int begin(struct query_cursor *base)
{
    static const struct scanned_rows_kind kind = {
        .receiver = {take_events, NULL, NULL, NULL},
        .begin = begin_thread,
        .row_bytes = sizeof(struct event_row),
        .time_column = EVENTS_TIME,
        .counted_column = COUNTED_EVENT_COLUMNS,
        .subject = EVENT_TALLY_EVENTS,
        .is_in_order = true,
    };
    struct events_cursor *cursor = (struct events_cursor *)base;
    int result = scanned_rows_begin(&cursor->scanned, &kind);

    cursor->needs_function = place_needs_function(base);
    cursor->scanned.kinds = wanted_kinds(&base->filter);
    /* How deep a call is follows from those before it, and so does its number. */
    if (!query_wants(&base->wish, EVENTS_DEPTH) && !query_wants(&base->wish, EVENTS_NUMBER))
        cursor->scanned.scan.skip_before = cursor->scanned.first;
    return result;
}

static const char *kind_name(uint32_t kind)
{
    for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
        if (kind == 1u << bit)
            return event_name(bit);
    return "?";
}

static void put_target(const struct scanned_rows *rows, sqlite3_context *result, const struct event_row *row)
{
    if (row->kind & (GAIT_EVENT_CALL | GAIT_EVENT_RET))
        place_name_put(rows->base.source, result,
                       query_source_number(rows->base.source, rows->thread.process, row->target, row->time));
}

static void column(struct query_cursor *base, sqlite3_context *result, int which)
{
    const struct scanned_rows *rows = (struct scanned_rows *)base;
    const struct event_tally_count *counted = rows->counted_row;
    const struct event_row *row = scanned_rows_row(rows);

    if (which < PLACE_COLUMNS) {
        place_column_put(base, result, which, &rows->thread, rows->is_counting ? counted->function : row->function);
        return;
    }
    switch (which) {
    case EVENTS_KIND:
        sqlite3_result_text(result, kind_name(rows->is_counting ? counted->kind : row->kind), -1, SQLITE_STATIC);
        break;
    case EVENTS_TIME:
        sqlite3_result_int64(result, (int64_t)view_trace_ns(base->source->trace, row->time));
        break;
    case EVENTS_IS_GUESSED:
        sqlite3_result_int64(result, row->is_guessed);
        break;
    case EVENTS_DEPTH:
        if (row->kind & (GAIT_EVENT_CALL | GAIT_EVENT_RET | GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE | GAIT_EVENT_SUSPEND |
                         GAIT_EVENT_RESUME))
            sqlite3_result_int64(result, row->depth);
        break;
    case EVENTS_TARGET_FUNCTION:
        put_target(rows, result, row);
        break;
    case EVENTS_TARGET:
        if (row->target != 0)
            sqlite3_result_int64(result, (int64_t)row->target);
        break;
    case EVENTS_NUMBER:
        sqlite3_result_int64(result, (int64_t)row->number);
        break;
    default:
        sqlite3_result_int64(result, row->is_unwound);
        break;
    case EVENTS_IS_ENTRY_ONLY:
        sqlite3_result_int64(result, row->is_entry_only);
        break;
    }
}

static void end(struct query_cursor *base)
{
    scanned_rows_end((struct scanned_rows *)base);
}

extern const struct query_table query_table_events;
const struct query_table query_table_events = {
    .name = "events",
    .meaning = "all events of threads, as they were recorded",
    .columns = columns,
    .column_count = EVENTS_COLUMNS,
    .cursor_bytes = sizeof(struct events_cursor),
    .cost = cost,
    .keeps_order = keeps_order,
    .begin = begin,
    .next = scanned_rows_next,
    .column = column,
    .end = end,
};
