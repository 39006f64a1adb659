/* SPDX-License-Identifier: MIT */
/*
 * events: all that was recorded of threads, a row each, as `gait dump events` writes it. Where only columns of the
 * function, its thread and the kind are wanted, and an order or nothing but count(*) of them, rows are counted.
 */
#include "query/counted_rows.h"
#include "query/event_scan.h"
#include "query/place_columns.h"
#include "trace/event_names.h"

#include <errno.h>
#include <stdlib.h>

enum events_column {
    EVENTS_KIND = PLACE_COLUMNS,
    EVENTS_TIME,
    EVENTS_IS_GUESSED,
    EVENTS_DEPTH,
    EVENTS_TARGET_FUNCTION,
    EVENTS_TARGET,
    EVENTS_IS_UNWOUND,
    EVENTS_COLUMNS,
};

_Static_assert(EVENTS_KIND + 1 == COUNTED_EVENT_COLUMNS, "the kind is the last column that can be counted");

static const struct query_column columns[] = {
    PLACE_COLUMN_LIST("where it happened, with the place: of enter and leave, the function"),
    [EVENTS_KIND] = {"kind", "TEXT", "'enter', 'leave', 'call', 'ret', 'block', 'exec' or 'compile'", QUERY_PUSH_TEXT,
                     false},
    [EVENTS_TIME] = {"time_ns", "INTEGER", "when, since the recording began", QUERY_PUSH_NUMBER, false},
    [EVENTS_IS_GUESSED] = {"is_guessed", "INTEGER", "1: that time is between others that are known, no more", 0, false},
    [EVENTS_DEPTH] = {"depth", "INTEGER", "how deep calls are; NULL of blocks and instructions", 0, false},
    [EVENTS_TARGET_FUNCTION] = {"target_function", "TEXT", "of calls and returns: where they go", 0, false},
    [EVENTS_TARGET] = {"target", "INTEGER", "the same as an address; where a block ends", 0, true},
    [EVENTS_IS_UNWOUND] = {"is_unwound", "INTEGER", "1: an exception or a long jump ended the function", 0, true},
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
};

struct events_cursor {
    struct query_cursor base;
    struct event_scan scan;
    struct place_thread thread;
    struct place_verdicts verdicts;
    bool needs_function;
    uint32_t kinds; /* that are wanted */
    uint64_t first_time;
    uint64_t last_time;
    uint64_t last_seen; /* of the thread: times do not go back */

    struct event_row *rows; /* of the last chunk */
    size_t row_at;
    size_t row_count;
    size_t row_capacity;

    bool is_counting;
    struct counted_rows counted;

    int result; /* -ENOMEM */
};

static double cost(const struct query_source *source)
{
    return 2 * query_source_event_bytes(source) + 100;
}

static int grow(struct events_cursor *cursor)
{
    size_t capacity = cursor->row_capacity == 0 ? 256 : 2 * cursor->row_capacity;
    struct event_row *grown = realloc(cursor->rows, capacity * sizeof(*grown));

    if (grown == NULL)
        return -ENOMEM;
    cursor->rows = grown;
    cursor->row_capacity = capacity;
    return 0;
}

static struct event_row *add_row(struct events_cursor *cursor)
{
    if (cursor->row_count == cursor->row_capacity && grow(cursor) != 0)
        return NULL;
    return &cursor->rows[cursor->row_count++];
}

static int take_event(struct events_cursor *cursor, const struct gait_event *event, uint64_t time, bool is_guessed)
{
    uint32_t function = VIEW_NO_FUNCTION;
    struct event_row *row;

    if (time < cursor->first_time || !(event->kind & cursor->kinds))
        return 0;
    if (cursor->needs_function) {
        function = query_source_number(cursor->base.source, cursor->thread.process, event->location, time);
        if (!place_takes_function(&cursor->verdicts, &cursor->base, function))
            return 0;
    }
    row = add_row(cursor);
    if (row == NULL)
        return cursor->result = -ENOMEM;
    *row = (struct event_row){
        .kind = event->kind,
        .depth = event->depth,
        .location = event->location,
        .target = event->target,
        .time = time,
        .function = function,
        .is_guessed = is_guessed,
        .is_unwound = event->is_unwound != 0,
    };
    return 0;
}

static int take_events(void *context, const struct gait_event *events, size_t count, const struct trace_span *span)
{
    struct events_cursor *cursor = context;

    for (size_t i = 0; i < count && cursor->result == 0; i++) {
        uint64_t time = trace_span_time(span, events, count, i);

        if (time > cursor->last_seen)
            cursor->last_seen = time;
        if (cursor->last_seen > cursor->last_time)
            return 1;
        take_event(cursor, &events[i], cursor->last_seen, span->is_interpolated);
    }
    return cursor->result;
}

static bool wants_thread(void *context, size_t thread)
{
    const struct events_cursor *cursor = context;
    struct place_thread place = place_of_thread(cursor->base.source->trace, thread);

    return place_takes_thread(&cursor->base, &place);
}

static void begin_thread(void *context, size_t thread)
{
    struct events_cursor *cursor = context;

    cursor->thread = place_of_thread(cursor->base.source->trace, thread);
    cursor->last_seen = 0;
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

static int begin_counting(struct events_cursor *cursor)
{
    cursor->is_counting = true;
    if (grow(cursor) != 0)
        return -ENOMEM;
    return counted_rows_init(&cursor->counted, &cursor->base, EVENT_TALLY_EVENTS);
}

/* The row is the first one, and the only one. */
static int next_counted(struct events_cursor *cursor)
{
    const struct event_tally_count *counted = counted_rows_next(&cursor->counted, cursor->kinds);

    if (counted == NULL)
        return 0;
    cursor->thread = place_of_thread(cursor->base.source->trace, counted->thread);
    cursor->rows[0] = (struct event_row){.kind = counted->kind, .function = counted->function};
    return 1;
}

static int begin(struct query_cursor *base)
{
    struct events_cursor *cursor = (struct events_cursor *)base;
    const struct view_clock *clock = &base->source->trace->clock;
    struct query_range time = query_filter_range(&base->filter, EVENTS_TIME);

    cursor->scan = (struct event_scan){
        .trace = base->source->trace,
        .receiver = {take_events, NULL, NULL, NULL},
        .wants = wants_thread,
        .begin = begin_thread,
        .context = cursor,
    };
    place_verdicts_init(&cursor->verdicts, base);
    cursor->needs_function = place_needs_function(base);
    cursor->kinds = wanted_kinds(&base->filter);
    cursor->first_time = view_clock_counter(clock, time.low < 0 ? 0 : (uint64_t)time.low);
    /* How deep a call is follows from those before it. */
    if (!query_wants(&base->wish, EVENTS_DEPTH))
        cursor->scan.skip_before = cursor->first_time;
    cursor->last_time = time.high < 0            ? 0
                        : time.high == INT64_MAX ? UINT64_MAX
                                                 : view_clock_counter(clock, (uint64_t)time.high + 1) - 1;
    /* Without an order, events come as they happened. */
    if (counted_rows_suit(&base->wish, COUNTED_EVENT_COLUMNS) &&
        (base->wish.order_count != 0 || counted_rows_weigh(base)))
        return begin_counting(cursor);
    return 0;
}

static int next(struct query_cursor *base)
{
    struct events_cursor *cursor = (struct events_cursor *)base;
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

static const char *kind_name(uint32_t kind)
{
    for (unsigned bit = 0; bit < EVENT_NAME_COUNT; bit++)
        if (kind == 1u << bit)
            return event_name(bit);
    return "?";
}

static void put_target(struct events_cursor *cursor, sqlite3_context *result, const struct event_row *row)
{
    if (row->kind & (GAIT_EVENT_CALL | GAIT_EVENT_RET))
        place_name_put(cursor->base.source, result,
                       query_source_number(cursor->base.source, cursor->thread.process, row->target, row->time));
}

static void column(struct query_cursor *base, sqlite3_context *result, int which)
{
    struct events_cursor *cursor = (struct events_cursor *)base;
    const struct event_row *row = &cursor->rows[cursor->row_at];

    if (which < PLACE_COLUMNS) {
        place_column_put(base, result, which, &cursor->thread, row->function);
        return;
    }
    switch (which) {
    case EVENTS_KIND:
        sqlite3_result_text(result, kind_name(row->kind), -1, SQLITE_STATIC);
        break;
    case EVENTS_TIME:
        sqlite3_result_int64(result, (int64_t)view_trace_ns(base->source->trace, row->time));
        break;
    case EVENTS_IS_GUESSED:
        sqlite3_result_int64(result, row->is_guessed);
        break;
    case EVENTS_DEPTH:
        if (row->kind & (GAIT_EVENT_CALL | GAIT_EVENT_RET | GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE))
            sqlite3_result_int64(result, row->depth);
        break;
    case EVENTS_TARGET_FUNCTION:
        put_target(cursor, result, row);
        break;
    case EVENTS_TARGET:
        if (row->target != 0)
            sqlite3_result_int64(result, (int64_t)row->target);
        break;
    default:
        sqlite3_result_int64(result, row->is_unwound);
        break;
    }
}

static void end(struct query_cursor *base)
{
    struct events_cursor *cursor = (struct events_cursor *)base;

    event_scan_deinit(&cursor->scan);
    query_source_note(base->source, cursor->scan.problem, &cursor->scan.why);
    place_verdicts_deinit(&cursor->verdicts);
    free(cursor->rows);
    if (cursor->is_counting)
        counted_rows_deinit(&cursor->counted);
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
    .next = next,
    .column = column,
    .end = end,
};
