/* SPDX-License-Identifier: MIT */
/* kernel_events: the events of the kernel, by time. Fields are a JSON object, for json_extract(). */
#include "query/place_columns.h"

#include "trace/kernel_event_text.h"
#include "view/kernel_stack.h"

#include <errno.h>
#include <stdlib.h>

enum kernel_events_column {
    KERNEL_EVENTS_TIME,
    KERNEL_EVENTS_NAME,
    KERNEL_EVENTS_PID,
    KERNEL_EVENTS_TID,
    KERNEL_EVENTS_THREAD,
    KERNEL_EVENTS_CPU,
    KERNEL_EVENTS_FIELDS,
    KERNEL_EVENTS_STACK,
    KERNEL_EVENTS_SPEC,
    KERNEL_EVENTS_COLUMNS,
};

static const struct query_column columns[] = {
    [KERNEL_EVENTS_TIME] = {"time_ns", "INTEGER", "when, since the recording began", 0},
    [KERNEL_EVENTS_NAME] = {"name", "TEXT", "of the tracepoint, function or counter", 0},
    [KERNEL_EVENTS_PID] = {"pid", "INTEGER", "the process in which it happened", 0},
    [KERNEL_EVENTS_TID] = {"tid", "INTEGER", "the thread; 0: the CPU had nothing to do", 0},
    [KERNEL_EVENTS_THREAD] = {"thread", "TEXT", "the thread's name", 0},
    [KERNEL_EVENTS_CPU] = {"cpu", "INTEGER", "where", 0},
    [KERNEL_EVENTS_FIELDS] = {"fields", "TEXT", "a JSON object: json_extract(fields, '$.prev_pid')", 0},
    [KERNEL_EVENTS_STACK] = {"stack", "TEXT", "of kernel and program, the innermost first, with ; between; NULL: none",
                             0},
    [KERNEL_EVENTS_SPEC] = {"spec", "TEXT", "what was asked for, as tracepoint:sched:sched_switch", 0},
};

struct kernel_events_cursor {
    struct query_cursor base;
    bool is_open;
    struct kernel_sources sources;
    struct kernel_events events;
    struct kernel_event event;
    const struct kernel_source *source;
};

static double cost(const struct query_source *source)
{
    return query_source_event_bytes(source) / 8 + 1000;
}

static int begin(struct query_cursor *base)
{
    struct kernel_events_cursor *cursor = (struct kernel_events_cursor *)base;
    const struct trace_files *files = &base->source->trace->files;
    struct gait_error err;
    int result = kernel_events_sources(files, &cursor->sources, &err);

    if (result == 0) {
        result = kernel_events_open(&cursor->events, files, &err);
        if (result != 0)
            kernel_sources_deinit(&cursor->sources);
    }
    cursor->is_open = result == 0;
    if (result == 0 || result == -ENOENT)
        return 0;
    query_source_note(base->source, result, &err);
    return result == -ENOMEM ? result : 0;
}

static int next(struct query_cursor *base)
{
    struct kernel_events_cursor *cursor = (struct kernel_events_cursor *)base;

    do {
        if (!cursor->is_open || !kernel_events_next(&cursor->events, &cursor->event))
            return 0;
        cursor->source = kernel_sources_find(&cursor->sources, cursor->event.source);
    } while (cursor->source == NULL);
    return 1;
}

static void put_fields(struct kernel_events_cursor *cursor, sqlite3_context *result)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    if (stream == NULL) {
        sqlite3_result_error_nomem(result);
        return;
    }
    kernel_event_put_json(stream, cursor->source, &cursor->event, JSON_EXACT);
    if (fclose(stream) != 0)
        sqlite3_result_error_nomem(result);
    else
        sqlite3_result_text(result, text, (int)size, SQLITE_TRANSIENT);
    free(text);
}

static void put_stack(struct kernel_events_cursor *cursor, sqlite3_context *result)
{
    char *text = kernel_stack_write(cursor->base.source->functions, &cursor->sources, &cursor->event);

    if (text != NULL)
        sqlite3_result_text(result, text, -1, free);
}

static void column(struct query_cursor *base, sqlite3_context *result, int which)
{
    struct kernel_events_cursor *cursor = (struct kernel_events_cursor *)base;
    const struct kernel_event *event = &cursor->event;

    if (which == KERNEL_EVENTS_TIME)
        sqlite3_result_int64(result, (int64_t)view_trace_ns(base->source->trace, event->time));
    else if (which == KERNEL_EVENTS_NAME)
        place_text_put(result, cursor->source->name);
    else if (which == KERNEL_EVENTS_SPEC)
        place_text_put(result, cursor->source->spec);
    else if (which == KERNEL_EVENTS_PID)
        sqlite3_result_int64(result, event->pid);
    else if (which == KERNEL_EVENTS_TID)
        sqlite3_result_int64(result, event->tid);
    else if (which == KERNEL_EVENTS_THREAD)
        place_text_put(result, kernel_sources_thread(&cursor->sources, event->tid, event->time));
    else if (which == KERNEL_EVENTS_CPU)
        sqlite3_result_int64(result, event->cpu);
    else if (which == KERNEL_EVENTS_FIELDS)
        put_fields(cursor, result);
    else if (which == KERNEL_EVENTS_STACK)
        put_stack(cursor, result);
}

static void end(struct query_cursor *base)
{
    struct kernel_events_cursor *cursor = (struct kernel_events_cursor *)base;

    if (!cursor->is_open)
        return;
    if (cursor->events.problem.code != 0)
        query_source_note(base->source, -cursor->events.problem.code, &cursor->events.problem);
    kernel_events_close(&cursor->events);
    kernel_sources_deinit(&cursor->sources);
}

extern const struct query_table query_table_kernel_events;
const struct query_table query_table_kernel_events = {
    .name = "kernel_events",
    .meaning = "events of the kernel, by time",
    .columns = columns,
    .column_count = KERNEL_EVENTS_COLUMNS,
    .cursor_bytes = sizeof(struct kernel_events_cursor),
    .cost = cost,
    .begin = begin,
    .next = next,
    .column = column,
    .end = end,
};
