/* SPDX-License-Identifier: MIT */
/*
 * details: calls that were looked at closely, a row each, when they end. How they began is kept until then; one whose
 * end was not recorded is a row when something follows that must be behind it.
 */
#include "hosted/growing_array.h"
#include "query/detail_scan.h"
#include "symbolize/call_arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum details_column {
    DETAILS_DEPTH = PLACE_COLUMNS,
    DETAILS_START,
    DETAILS_DURATION,
    DETAILS_ARGUMENTS,
    DETAILS_RESULT,
    DETAILS_VALUE,
    DETAILS_IS_UNWOUND,
    DETAILS_ARGUMENT_0,
    DETAILS_COLUMNS = DETAILS_ARGUMENT_0 + DETAIL_ARGUMENTS,
};

static const struct query_column columns[] = {
    PLACE_COLUMN_LIST("the function that was called"),
    [DETAILS_DEPTH] = {"depth", "INTEGER", "how many calls of these are open around it", 0},
    [DETAILS_START] = {"start_ns", "INTEGER", "when it began, since the recording did", 0},
    [DETAILS_DURATION] = {"duration_ns", "INTEGER", "how long it took; NULL: its end was not recorded", 0},
    [DETAILS_ARGUMENTS] = {"arguments", "TEXT", "as far as they are known: fd=3, \"text\"", 0},
    [DETAILS_RESULT] = {"result", "TEXT", "what it returned, as far as that is known: -1 ENOENT", 0},
    [DETAILS_VALUE] = {"value", "INTEGER", "the register with the result; NULL: it did not return", 0},
    [DETAILS_IS_UNWOUND] = {"is_unwound", "INTEGER", "1: an exception or a long jump ended it", 0},
    [DETAILS_ARGUMENT_0] = {"register_0", "INTEGER", "the first of the registers with arguments", 0},
    {"register_1", "INTEGER", "and so on", 0},
    {"register_2", "INTEGER", "", 0},
    {"register_3", "INTEGER", "", 0},
    {"register_4", "INTEGER", "", 0},
    {"register_5", "INTEGER", "", 0},
};

/* How a call began: its record. */
struct begun_call {
    _Alignas(8) uint8_t bytes[DETAIL_ENTER_BYTES_MAX];
};

struct details_cursor {
    struct query_cursor base;
    struct detail_scan scan;
    struct place_verdicts verdicts;
    struct call_arguments arguments;
    bool has_arguments;
    enum detail_step step;
    bool is_waiting; /* scan's last step was not used up yet */

    struct begun_call *open;
    size_t open_count;
    size_t open_capacity;

    /* The row: */
    bool has_enter;
    bool has_leave;
    struct begun_call enter_record;
    struct detail_enter enter;
    struct detail_leave leave;
    struct detail_values leave_values;
    uint32_t function;
};

static double cost(const struct query_source *source)
{
    return query_source_event_bytes(source) / 8 + 100;
}

static int begin(struct query_cursor *base)
{
    struct details_cursor *cursor = (struct details_cursor *)base;

    cursor->scan = (struct detail_scan){.source = base->source, .filter = base};
    place_verdicts_init(&cursor->verdicts, base);
    cursor->has_arguments = call_arguments_init(&cursor->arguments, &base->source->functions->names) == 0;
    return cursor->has_arguments ? 0 : -ENOMEM;
}

static struct detail_record record_at(const uint8_t *place)
{
    struct detail_record record;

    memcpy(&record, place, sizeof(record));
    return record;
}

static int keep_enter(struct details_cursor *cursor)
{
    struct detail_record record = record_at(cursor->scan.record);

    if (ARRAY_RESERVE(cursor->open, cursor->open_capacity, cursor->open_count + 1) != 0)
        return -ENOMEM;
    memcpy(cursor->open[cursor->open_count++].bytes, cursor->scan.record,
           record.size_bytes < DETAIL_ENTER_BYTES_MAX ? record.size_bytes : DETAIL_ENTER_BYTES_MAX);
    return 0;
}

/* The row's beginning is the innermost call that is open. */
static void take_innermost(struct details_cursor *cursor)
{
    cursor->enter_record = cursor->open[--cursor->open_count];
    memcpy(&cursor->enter, cursor->enter_record.bytes, sizeof(cursor->enter));
    cursor->has_enter = true;
}

/* A row, if what the step tells ends a call without saying so. */
static bool end_untold(struct details_cursor *cursor)
{
    struct detail_record told, innermost;

    if (cursor->open_count == 0)
        return false;
    if (cursor->step == DETAIL_STEP_RECORD) {
        told = record_at(cursor->scan.record);
        innermost = record_at(cursor->open[cursor->open_count - 1].bytes);
        if (told.kind > DETAIL_LEFT || told.depth > innermost.depth)
            return false;
        if (told.kind != DETAIL_ENTER && told.depth == innermost.depth && told.function == innermost.function)
            return false;
    }
    take_innermost(cursor);
    return true;
}

/* Uses up a record. True: it made a row. */
static bool take_leave(struct details_cursor *cursor)
{
    memcpy(&cursor->leave, cursor->scan.record, sizeof(cursor->leave));
    cursor->leave_values = detail_record_values(cursor->scan.record);
    cursor->has_leave = true;
    if (cursor->open_count != 0 &&
        record_at(cursor->open[cursor->open_count - 1].bytes).depth == cursor->leave.record.depth)
        take_innermost(cursor);
    return true;
}

static const struct detail_record *record_of(const struct details_cursor *cursor)
{
    return cursor->has_enter ? &cursor->enter.record : &cursor->leave.record;
}

/* 1: a row, wanted or not. */
static int pull(struct details_cursor *cursor)
{
    cursor->has_enter = cursor->has_leave = false;
    for (;;) {
        if (!cursor->is_waiting)
            cursor->step = detail_scan_step(&cursor->scan);
        cursor->is_waiting = true;
        if (end_untold(cursor))
            return 1;
        cursor->is_waiting = false;
        if (cursor->step == DETAIL_STEP_OVER)
            return 0;
        if (cursor->step != DETAIL_STEP_RECORD)
            continue;
        switch (record_at(cursor->scan.record).kind) {
        case DETAIL_ENTER:
            if (keep_enter(cursor) != 0)
                return -ENOMEM;
            break;
        case DETAIL_LEAVE:
        case DETAIL_LEFT:
            return take_leave(cursor);
        default:
            break;
        }
    }
}

static int next(struct query_cursor *base)
{
    struct details_cursor *cursor = (struct details_cursor *)base;
    int result;

    while ((result = pull(cursor)) == 1) {
        const struct detail_record *record = record_of(cursor);

        cursor->function =
            query_source_number(base->source, cursor->scan.thread.process, record->function, record->time);
        if (place_takes_function(&cursor->verdicts, base, cursor->function))
            return 1;
    }
    return result;
}

static void put_arguments(struct details_cursor *cursor, sqlite3_context *result, bool is_result)
{
    const struct modules *modules = &cursor->base.source->trace->processes[cursor->scan.thread.process].modules;
    const struct detail_record *record = record_of(cursor);
    const struct recorded_module *module = modules_find(modules, record->function, record->time, record->time);
    char bytes[DETAIL_TEXT_BYTES];
    struct detail_text text;

    detail_text_init(&text, bytes, sizeof(bytes));
    if (is_result && cursor->has_leave)
        call_arguments_put_result(&cursor->arguments, module, &cursor->leave, cursor->leave_values, &text);
    else if (!is_result && cursor->has_enter)
        call_arguments_put(&cursor->arguments, module, &cursor->enter,
                           cursor->enter_record.bytes + sizeof(cursor->enter),
                           detail_record_values(cursor->enter_record.bytes), &text);
    if (text.used != 0)
        sqlite3_result_text(result, bytes, -1, SQLITE_TRANSIENT);
}

static uint64_t start_of(const struct details_cursor *cursor)
{
    return cursor->has_enter ? cursor->enter.record.time : cursor->leave.entered_time;
}

static void column(struct query_cursor *base, sqlite3_context *result, int which)
{
    struct details_cursor *cursor = (struct details_cursor *)base;
    const struct view_trace *trace = base->source->trace;

    if (which < PLACE_COLUMNS)
        place_column_put(base, result, which, &cursor->scan.thread, cursor->function);
    else if (which == DETAILS_DEPTH)
        sqlite3_result_int64(result, record_of(cursor)->depth);
    else if (which == DETAILS_START)
        sqlite3_result_int64(result, (int64_t)view_trace_ns(trace, start_of(cursor)));
    else if (which == DETAILS_DURATION && cursor->has_leave)
        sqlite3_result_int64(result, (int64_t)(view_trace_ns(trace, cursor->leave.record.time) -
                                               view_trace_ns(trace, start_of(cursor))));
    else if (which == DETAILS_ARGUMENTS || which == DETAILS_RESULT)
        put_arguments(cursor, result, which == DETAILS_RESULT);
    else if (which == DETAILS_VALUE && cursor->has_leave && cursor->leave.record.kind == DETAIL_LEAVE)
        sqlite3_result_int64(result, (int64_t)cursor->leave.value);
    else if (which == DETAILS_IS_UNWOUND && cursor->has_leave)
        sqlite3_result_int64(result, cursor->leave.record.kind == DETAIL_LEFT);
    else if (which >= DETAILS_ARGUMENT_0 && cursor->has_enter)
        sqlite3_result_int64(result, (int64_t)cursor->enter.arguments[which - DETAILS_ARGUMENT_0]);
}

static void end(struct query_cursor *base)
{
    struct details_cursor *cursor = (struct details_cursor *)base;

    detail_scan_deinit(&cursor->scan);
    place_verdicts_deinit(&cursor->verdicts);
    if (cursor->has_arguments)
        call_arguments_deinit(&cursor->arguments);
    free(cursor->open);
}

extern const struct query_table query_table_details;
const struct query_table query_table_details = {
    .name = "details",
    .meaning = "calls whose arguments were captured, by --detail, --arg or a like option",
    .columns = columns,
    .column_count = DETAILS_COLUMNS,
    .cursor_bytes = sizeof(struct details_cursor),
    .cost = cost,
    .begin = begin,
    .next = next,
    .column = column,
    .end = end,
};
