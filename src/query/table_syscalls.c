/* SPDX-License-Identifier: MIT */
/* syscalls: system calls, a row each, when they return, or when they are made if they do not. */
#include "query/detail_scan.h"
#include "view/record_words.h"
#include "view/system_call_reader.h"

#include <stdlib.h>
#include <string.h>

enum syscalls_column {
    SYSCALLS_NAME,
    SYSCALLS_PID,
    SYSCALLS_TID,
    SYSCALLS_THREAD,
    SYSCALLS_START,
    SYSCALLS_DURATION,
    SYSCALLS_RESULT,
    SYSCALLS_ERROR,
    SYSCALLS_TEXT,
    SYSCALLS_THREAD_ID,
    SYSCALLS_NUMBER,
    SYSCALLS_ARGUMENT_0,
    SYSCALLS_COLUMNS = SYSCALLS_ARGUMENT_0 + DETAIL_ARGUMENTS,
};

static const struct query_column columns[] = {
    [SYSCALLS_NAME] = {"name", "TEXT", "of the system call: 'openat'", 0},
    [SYSCALLS_PID] = {"pid", "INTEGER", "the process", 0},
    [SYSCALLS_TID] = {"tid", "INTEGER", "the thread", 0},
    [SYSCALLS_THREAD] = {"thread", "TEXT", "the thread's name", 0},
    [SYSCALLS_START] = {"start_ns", "INTEGER", "when it was made, since the recording began", 0},
    [SYSCALLS_DURATION] = {"duration_ns", "INTEGER", "how long it took; NULL: it did not return", 0},
    [SYSCALLS_RESULT] = {"result", "INTEGER", "as the kernel gives it; NULL: it did not return", 0},
    [SYSCALLS_ERROR] = {"error", "INTEGER", "the number of the error; NULL: there was none", 0},
    [SYSCALLS_TEXT] = {"text", "TEXT", "all of it, as strace writes it", 0},
    [SYSCALLS_THREAD_ID] = {"thread_id", "INTEGER", "of threads.thread_id; a tid may come again", 0},
    [SYSCALLS_NUMBER] = {"number", "INTEGER", "of the system call", 0},
    [SYSCALLS_ARGUMENT_0] = {"argument_0", "INTEGER", "the first argument", 0},
    {"argument_1", "INTEGER", "and so on", 0},
    {"argument_2", "INTEGER", "", 0},
    {"argument_3", "INTEGER", "", 0},
    {"argument_4", "INTEGER", "", 0},
    {"argument_5", "INTEGER", "", 0},
};

struct syscalls_cursor {
    struct query_cursor base;
    struct detail_scan scan;
    bool has_begun;  /* `begun` is one that was begun, and is no row yet */
    bool is_waiting; /* the scan's record was not used up yet */
    enum detail_step step;
    struct view_system_call call; /* the row */
    struct place_thread thread;
    struct place_thread begun_thread;
    _Alignas(8) uint8_t begun[DETAIL_RECORD_BYTES_MAX];
};

static double cost(const struct query_source *source)
{
    return query_source_event_bytes(source) / 8 + 100;
}

static int begin(struct query_cursor *base)
{
    ((struct syscalls_cursor *)base)->scan = (struct detail_scan){.source = base->source, .filter = NULL};
    return 0;
}

static bool ends_begun(const struct syscalls_cursor *cursor, const struct view_system_call *call)
{
    struct view_system_call begun = view_system_call_of(cursor->begun);

    return begun.begin == call->begin && begun.number == call->number;
}

/* What was begun is a row: nothing came of it. */
static int emit_begun(struct syscalls_cursor *cursor)
{
    cursor->call = view_system_call_of(cursor->begun);
    cursor->thread = cursor->begun_thread;
    cursor->has_begun = false;
    return 1;
}

/* Uses up a record. True: it is a row. */
static bool take(struct syscalls_cursor *cursor, const struct detail_record *record)
{
    if (record->kind == DETAIL_SYSTEM_CALL_ENTER) {
        memcpy(cursor->begun, cursor->scan.record, record->size_bytes);
        cursor->begun_thread = cursor->scan.thread;
        cursor->has_begun = true;
        return false;
    }
    cursor->call = view_system_call_of(cursor->scan.record);
    cursor->thread = cursor->scan.thread;
    cursor->has_begun = false;
    return true;
}

static int next(struct query_cursor *base)
{
    struct syscalls_cursor *cursor = (struct syscalls_cursor *)base;
    struct detail_record record;

    for (;;) {
        if (!cursor->is_waiting)
            cursor->step = detail_scan_step(&cursor->scan);
        cursor->is_waiting = false;
        if (cursor->step == DETAIL_STEP_RECORD) {
            memcpy(&record, cursor->scan.record, sizeof(record));
            if (record.kind != DETAIL_SYSTEM_CALL && record.kind != DETAIL_SYSTEM_CALL_ENTER)
                continue;
        } else if (cursor->step == DETAIL_STEP_GAP) {
            continue;
        }
        if (cursor->has_begun) {
            struct view_system_call call = {.number = 0};

            if (cursor->step == DETAIL_STEP_RECORD && record.kind == DETAIL_SYSTEM_CALL)
                call = view_system_call_of(cursor->scan.record);
            if (!ends_begun(cursor, &call)) {
                cursor->is_waiting = true;
                return emit_begun(cursor);
            }
        }
        if (cursor->step == DETAIL_STEP_OVER)
            return 0;
        if (cursor->step == DETAIL_STEP_RECORD && take(cursor, &record))
            return 1;
    }
}

static void put_text(sqlite3_context *result, const struct view_system_call *call)
{
    char *text = system_call_words(call);

    if (text == NULL)
        sqlite3_result_error_nomem(result);
    else
        sqlite3_result_text(result, text, -1, free);
}

static void put_outcome(const struct syscalls_cursor *cursor, sqlite3_context *result, int which)
{
    const struct view_system_call *call = &cursor->call;
    const struct view_trace *trace = cursor->base.source->trace;

    if (call->flags & DETAIL_SYSTEM_CALL_NEVER_RETURNED)
        return;
    if (which == SYSCALLS_DURATION)
        sqlite3_result_int64(result, (int64_t)(view_trace_ns(trace, call->end) - view_trace_ns(trace, call->begin)));
    else if (which == SYSCALLS_RESULT)
        sqlite3_result_int64(result, call->result);
    else if (call->result < 0 && call->result >= -4095)
        sqlite3_result_int64(result, -call->result);
}

/* A child that shares the thread's memory is not the thread. */
static uint32_t maker_of(const struct view_system_call *call, uint32_t own)
{
    return call->flags & DETAIL_SYSTEM_CALL_BY_CHILD ? call->flags >> DETAIL_SYSTEM_CALL_CHILD_SHIFT : own;
}

static void column(struct query_cursor *base, sqlite3_context *result, int which)
{
    const struct syscalls_cursor *cursor = (const struct syscalls_cursor *)base;
    const struct view_trace *trace = base->source->trace;
    char name[SYSTEM_CALL_NAME_BYTES];

    if (which == SYSCALLS_NAME)
        sqlite3_result_text(result, system_call_name(cursor->call.number, name), -1, SQLITE_TRANSIENT);
    else if (which == SYSCALLS_PID)
        sqlite3_result_int64(result, maker_of(&cursor->call, trace->processes[cursor->thread.process].pid));
    else if (which == SYSCALLS_TID)
        sqlite3_result_int64(result, maker_of(&cursor->call, cursor->thread.tid));
    else if (which == SYSCALLS_THREAD)
        place_text_put(result, cursor->thread.name);
    else if (which == SYSCALLS_START)
        sqlite3_result_int64(result, (int64_t)view_trace_ns(trace, cursor->call.begin));
    else if (which == SYSCALLS_TEXT)
        put_text(result, &cursor->call);
    else if (which == SYSCALLS_THREAD_ID)
        place_column_put(base, result, PLACE_THREAD_ID, &cursor->thread, VIEW_NO_FUNCTION);
    else if (which == SYSCALLS_NUMBER)
        sqlite3_result_int64(result, (int64_t)cursor->call.number);
    else if (which >= SYSCALLS_ARGUMENT_0)
        sqlite3_result_int64(result, (int64_t)cursor->call.arguments[which - SYSCALLS_ARGUMENT_0]);
    else
        put_outcome(cursor, result, which);
}

static void end(struct query_cursor *base)
{
    detail_scan_deinit(&((struct syscalls_cursor *)base)->scan);
}

extern const struct query_table query_table_syscalls;
const struct query_table query_table_syscalls = {
    .name = "syscalls",
    .meaning = "system calls, if --syscalls recorded them",
    .columns = columns,
    .column_count = SYSCALLS_COLUMNS,
    .cursor_bytes = sizeof(struct syscalls_cursor),
    .cost = cost,
    .begin = begin,
    .next = next,
    .column = column,
    .end = end,
};
