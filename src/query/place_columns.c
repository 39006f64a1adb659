/* SPDX-License-Identifier: MIT */
#include "query/place_columns.h"

#include "hosted/growing_array.h"

#include <stdlib.h>
#include <string.h>

enum verdict { VERDICT_UNKNOWN = 0, VERDICT_NO, VERDICT_YES };

struct place_thread place_of_thread(const struct view_trace *trace, size_t thread)
{
    const struct view_thread *shown = &trace->threads[thread];

    return (struct place_thread){shown->process, thread, shown->tid, shown->name};
}

bool place_takes_thread(const struct query_cursor *cursor, const struct place_thread *thread)
{
    const struct query_filter *filter = &cursor->filter;

    return query_filter_takes_number(filter, PLACE_PID, cursor->source->trace->processes[thread->process].pid) &&
           query_filter_takes_number(filter, PLACE_TID, thread->tid) &&
           (thread->thread == SIZE_MAX ||
            query_filter_takes_number(filter, PLACE_THREAD_ID, (int64_t)thread->thread)) &&
           (thread->name[0] == '\0' || query_filter_takes_text(filter, PLACE_THREAD, thread->name));
}

void place_verdicts_init(struct place_verdicts *verdicts, const struct query_cursor *cursor)
{
    static const int columns[] = {PLACE_FUNCTION, PLACE_MODULE, PLACE_FUNCTION_ID, PLACE_ADDRESS};

    *verdicts = (struct place_verdicts){.count = 0};
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        verdicts->is_needed = verdicts->is_needed || query_filter_has(&cursor->filter, columns[i]);
}

void place_verdicts_deinit(struct place_verdicts *verdicts)
{
    free(verdicts->verdicts);
    *verdicts = (struct place_verdicts){.count = 0};
}

static bool judge(const struct query_cursor *cursor, uint32_t number)
{
    const struct query_filter *filter = &cursor->filter;
    const struct query_function *function;

    if (!query_filter_takes_number(filter, PLACE_FUNCTION_ID, view_functions_id(cursor->source->functions, number)))
        return false;
    function = query_source_function(cursor->source, number);
    return query_filter_takes_number(filter, PLACE_ADDRESS, (int64_t)function->shown->address) &&
           query_filter_takes_text(filter, PLACE_FUNCTION, function->shown->name) &&
           (function->module == NULL || query_filter_takes_text(filter, PLACE_MODULE, function->module));
}

bool place_takes_function(struct place_verdicts *verdicts, const struct query_cursor *cursor, uint32_t number)
{
    if (!verdicts->is_needed || number == VIEW_NO_FUNCTION)
        return true;
    if (ARRAY_RESERVE_ZEROED(verdicts->verdicts, verdicts->count, (size_t)number + 1) != 0)
        return true;
    if (verdicts->verdicts[number] == VERDICT_UNKNOWN)
        verdicts->verdicts[number] = judge(cursor, number) ? VERDICT_YES : VERDICT_NO;
    return verdicts->verdicts[number] == VERDICT_YES;
}

bool place_needs_function(const struct query_cursor *cursor)
{
    static const uint64_t columns = 1u << PLACE_FUNCTION | 1u << PLACE_MODULE | 1u << PLACE_FILE | 1u << PLACE_LINE |
                                    1u << PLACE_FUNCTION_ID | 1u << PLACE_ADDRESS;

    return (cursor->wish.columns & columns) != 0;
}

void place_text_put(sqlite3_context *result, const char *text)
{
    if (text != NULL && text[0] != '\0')
        sqlite3_result_text(result, text, -1, SQLITE_STATIC);
}

void place_name_put(struct query_source *source, sqlite3_context *result, uint32_t function)
{
    const struct query_function *shown;

    if (function == VIEW_NO_FUNCTION)
        return;
    shown = query_source_function(source, function);
    sqlite3_result_text(result, shown->shown->name, shown->name_bytes, SQLITE_STATIC);
}

static void put_function(struct query_source *source, sqlite3_context *result, int column, uint32_t number)
{
    const struct query_function *function;

    if (number == VIEW_NO_FUNCTION)
        return;
    function = column == PLACE_FILE || column == PLACE_LINE ? query_source_placed(source, number)
                                                            : query_source_function(source, number);
    if (column == PLACE_FUNCTION)
        sqlite3_result_text(result, function->shown->name, function->name_bytes, SQLITE_STATIC);
    else if (column == PLACE_MODULE && function->module != NULL)
        sqlite3_result_text(result, function->module, function->module_bytes, SQLITE_STATIC);
    else if (column == PLACE_ADDRESS)
        sqlite3_result_int64(result, (int64_t)function->shown->address);
    else if (column == PLACE_FUNCTION_ID)
        sqlite3_result_int64(result, function->id);
    else if (column == PLACE_FILE)
        place_text_put(result, function->file);
    else if (column == PLACE_LINE && function->line != 0)
        sqlite3_result_int64(result, function->line);
}

void place_column_put(const struct query_cursor *cursor, sqlite3_context *result, int column,
                      const struct place_thread *thread, uint32_t function)
{
    switch (column) {
    case PLACE_PID:
        sqlite3_result_int64(result, cursor->source->trace->processes[thread->process].pid);
        break;
    case PLACE_TID:
        sqlite3_result_int64(result, thread->tid);
        break;
    case PLACE_THREAD:
        place_text_put(result, thread->name);
        break;
    case PLACE_THREAD_ID:
        if (thread->thread != SIZE_MAX)
            sqlite3_result_int64(result, (int64_t)thread->thread);
        break;
    default:
        put_function(cursor->source, result, column, function);
        break;
    }
}
