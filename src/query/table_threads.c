/* SPDX-License-Identifier: MIT */
/* threads: those that have events or details, with what the manifest says of them. */
#include "query/place_columns.h"

enum threads_column {
    THREADS_ID,
    THREADS_PID,
    THREADS_TID,
    THREADS_THREAD,
    THREADS_GENERATION,
    THREADS_IMAGE,
    THREADS_LOST,
    THREADS_LOST_DETAIL,
    THREADS_WAITS,
    THREADS_WAITED,
    THREADS_COLUMNS,
};

static const struct query_column columns[] = {
    [THREADS_ID] = {"thread_id", "INTEGER", "its number in this trace", QUERY_PUSH_NUMBER},
    [THREADS_PID] = {"pid", "INTEGER", "the process", QUERY_PUSH_NUMBER},
    [THREADS_TID] = {"tid", "INTEGER", "the thread, as the kernel calls it", QUERY_PUSH_NUMBER},
    [THREADS_THREAD] = {"thread", "TEXT", "its name", QUERY_PUSH_TEXT},
    [THREADS_GENERATION] = {"generation", "INTEGER", "which thread with that tid it is, from 1 on", 0},
    [THREADS_IMAGE] = {"image", "INTEGER", "which program of the pid it is, from 1 on", 0},
    [THREADS_LOST] = {"lost_bytes", "INTEGER", "of events that were not read in time", 0},
    [THREADS_LOST_DETAIL] = {"lost_detail_bytes", "INTEGER", "the same of details", 0},
    [THREADS_WAITS] = {"waits", "INTEGER", "how often it waited for the recorder", 0},
    [THREADS_WAITED] = {"waited_ns", "INTEGER", "and how long", 0},
};

struct threads_cursor {
    struct query_cursor base;
    size_t next;
    const struct view_thread *thread;
    const struct view_process *process;
    const struct manifest_thread *listed; /* NULL: the manifest does not know it */
};

static double cost(const struct query_source *source)
{
    return (double)source->trace->thread_count + 1;
}

static const struct manifest_thread *find_listed(const struct manifest *manifest, const struct threads_cursor *cursor)
{
    for (size_t i = 0; i < manifest->process_count; i++) {
        const struct manifest_process *process = &manifest->processes[i];

        if (process->pid != cursor->process->pid || process->image != cursor->process->image)
            continue;
        for (size_t j = 0; j < process->thread_count; j++)
            if (process->threads[j].tid == cursor->thread->tid &&
                process->threads[j].generation == cursor->thread->generation)
                return &process->threads[j];
    }
    return NULL;
}

static int next(struct query_cursor *base)
{
    struct threads_cursor *cursor = (struct threads_cursor *)base;
    const struct view_trace *trace = base->source->trace;

    while (cursor->next < trace->thread_count + trace->silent_count) {
        size_t which = cursor->next++;

        cursor->thread = &trace->threads[which];
        cursor->process = view_trace_process_of(trace, which);
        if (!query_filter_takes_number(&base->filter, THREADS_ID, (int64_t)which) ||
            !query_filter_takes_number(&base->filter, THREADS_PID, cursor->process->pid) ||
            !query_filter_takes_number(&base->filter, THREADS_TID, cursor->thread->tid) ||
            (cursor->thread->name[0] != '\0' &&
             !query_filter_takes_text(&base->filter, THREADS_THREAD, cursor->thread->name)))
            continue;
        cursor->listed = find_listed(&trace->manifest, cursor);
        return 1;
    }
    return 0;
}

static void put_listed(sqlite3_context *result, int which, const struct manifest_thread *listed)
{
    if (listed == NULL)
        return;
    sqlite3_result_int64(result, (int64_t)(which == THREADS_LOST          ? listed->lost_bytes
                                           : which == THREADS_LOST_DETAIL ? listed->lost_detail_bytes
                                           : which == THREADS_WAITS       ? listed->wait_count
                                                                          : listed->waited_ns));
}

static void column(struct query_cursor *base, sqlite3_context *result, int which)
{
    struct threads_cursor *cursor = (struct threads_cursor *)base;

    switch (which) {
    case THREADS_ID:
        sqlite3_result_int64(result, cursor->thread - base->source->trace->threads);
        break;
    case THREADS_PID:
        sqlite3_result_int64(result, cursor->process->pid);
        break;
    case THREADS_TID:
        sqlite3_result_int64(result, cursor->thread->tid);
        break;
    case THREADS_THREAD:
        place_text_put(result, cursor->thread->name);
        break;
    case THREADS_GENERATION:
        sqlite3_result_int64(result, cursor->thread->generation);
        break;
    case THREADS_IMAGE:
        sqlite3_result_int64(result, cursor->process->image);
        break;
    default:
        put_listed(result, which, cursor->listed);
        break;
    }
}

extern const struct query_table query_table_threads;
const struct query_table query_table_threads = {
    .name = "threads",
    .meaning = "threads that were recorded",
    .columns = columns,
    .column_count = THREADS_COLUMNS,
    .cursor_bytes = sizeof(struct threads_cursor),
    .cost = cost,
    .begin = query_cursor_begin_nothing,
    .next = next,
    .column = column,
    .end = query_cursor_end_nothing,
};
