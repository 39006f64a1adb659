/* SPDX-License-Identifier: MIT */
/* functions: those that were called, with sums over their calls, which are made in one pass without rows. */
#include "query/call_totals.h"
#include "query/place_columns.h"

enum functions_column {
    FUNCTIONS_FUNCTION,
    FUNCTIONS_MODULE,
    FUNCTIONS_FILE,
    FUNCTIONS_LINE,
    FUNCTIONS_PID,
    FUNCTIONS_CALLS,
    FUNCTIONS_TOTAL,
    FUNCTIONS_SELF,
    FUNCTIONS_MIN,
    FUNCTIONS_AVG,
    FUNCTIONS_MAX,
    FUNCTIONS_ID,
    FUNCTIONS_ADDRESS,
    FUNCTIONS_COLUMNS,
};

static const struct query_column columns[] = {
    [FUNCTIONS_FUNCTION] = {"function", "TEXT", "its name", QUERY_PUSH_TEXT},
    [FUNCTIONS_MODULE] = {"module", "TEXT", "the name of the file that it is in", QUERY_PUSH_TEXT},
    [FUNCTIONS_FILE] = {"file", "TEXT", "its source file, where that is known", 0},
    [FUNCTIONS_LINE] = {"line", "INTEGER", "and the line there", 0},
    [FUNCTIONS_PID] = {"pid", "INTEGER", "the process", QUERY_PUSH_NUMBER},
    [FUNCTIONS_CALLS] = {"calls", "INTEGER", "how often it was called", 0},
    [FUNCTIONS_TOTAL] =
        {"total_ns", "INTEGER",
         "how long all calls took; those within another one not again; NULL, as the next: only entries were seen", 0},
    [FUNCTIONS_SELF] = {"self_ns", "INTEGER", "of that, not in calls that it made", 0},
    [FUNCTIONS_MIN] = {"min_ns", "INTEGER", "the shortest call", 0},
    [FUNCTIONS_AVG] = {"avg_ns", "INTEGER", "of all calls, those within another one too", 0},
    [FUNCTIONS_MAX] = {"max_ns", "INTEGER", "the longest call", 0},
    [FUNCTIONS_ID] = {"function_id", "INTEGER", "its number in this trace, in all tables", QUERY_PUSH_NUMBER},
    [FUNCTIONS_ADDRESS] = {"address", "INTEGER", "where it begins", 0},
};

struct functions_cursor {
    struct query_cursor base;
    uint32_t next;
    uint32_t function;
};

/* When the sums are made, looking for one is cheap: all are in memory. */
static double cost(const struct query_source *source)
{
    return source->totals != NULL ? (double)source->totals->count + 1 : 1000;
}

/* Sums are made once; those without times are faster. */
static int begin(struct query_cursor *base)
{
    struct query_source *source = base->source;
    bool wants_times = false;

    for (int i = FUNCTIONS_TOTAL; i <= FUNCTIONS_MAX; i++)
        wants_times = wants_times || query_wants(&base->wish, i);
    if (source->totals != NULL && (source->totals->has_times || !wants_times))
        return 0;
    /* A cursor that reads those without times goes on with the others: calls are the same. */
    call_totals_destroy(source->totals);
    source->totals = NULL;
    return call_totals_create(&source->totals, source, wants_times);
}

static const struct call_total *total_of(const struct functions_cursor *cursor)
{
    return &cursor->base.source->totals->totals[cursor->function];
}

static bool is_wanted(const struct query_cursor *base, uint32_t number)
{
    const struct query_filter *filter = &base->filter;
    const struct query_function *function;

    if (base->source->totals->totals[number].calls == 0 ||
        !query_filter_takes_number(filter, FUNCTIONS_ID, view_functions_id(base->source->functions, number)))
        return false;
    if (filter->count == 0)
        return true;
    function = query_source_function(base->source, number);
    return query_filter_takes_text(filter, FUNCTIONS_FUNCTION, function->shown->name) &&
           (function->module == NULL || query_filter_takes_text(filter, FUNCTIONS_MODULE, function->module)) &&
           query_filter_takes_number(filter, FUNCTIONS_PID,
                                     base->source->trace->processes[function->shown->process].pid);
}

static int next(struct query_cursor *base)
{
    struct functions_cursor *cursor = (struct functions_cursor *)base;

    while (cursor->next < base->source->totals->count) {
        cursor->function = cursor->next++;
        if (is_wanted(base, cursor->function))
            return 1;
    }
    return 0;
}

/* Without a time there is NULL. */
static void put_number(const struct functions_cursor *cursor, sqlite3_context *result, int which)
{
    const struct call_total *total = total_of(cursor);
    const struct query_source *source = cursor->base.source;

    if (which != FUNCTIONS_CALLS && !call_total_has_times(total))
        return;
    switch (which) {
    case FUNCTIONS_CALLS:
        sqlite3_result_int64(result, (int64_t)total->calls);
        break;
    case FUNCTIONS_TOTAL:
        sqlite3_result_int64(result, query_source_span_ns(source, total->total));
        break;
    case FUNCTIONS_SELF:
        sqlite3_result_int64(result, query_source_span_ns(source, total->self));
        break;
    case FUNCTIONS_MIN:
        /* None of them has ended, as far as is known. */
        if (total->shortest != UINT64_MAX)
            sqlite3_result_int64(result, query_source_span_ns(source, total->shortest));
        break;
    case FUNCTIONS_AVG:
        sqlite3_result_int64(result,
                             query_source_span_ns(source, total->summed) / (int64_t)call_total_timed_calls(total));
        break;
    default:
        sqlite3_result_int64(result, query_source_span_ns(source, total->longest));
        break;
    }
}

static void column(struct query_cursor *base, sqlite3_context *result, int which)
{
    static const int places[FUNCTIONS_COLUMNS] = {
        [FUNCTIONS_FUNCTION] = PLACE_FUNCTION, [FUNCTIONS_MODULE] = PLACE_MODULE,  [FUNCTIONS_FILE] = PLACE_FILE,
        [FUNCTIONS_LINE] = PLACE_LINE,         [FUNCTIONS_ID] = PLACE_FUNCTION_ID, [FUNCTIONS_ADDRESS] = PLACE_ADDRESS,
    };
    struct functions_cursor *cursor = (struct functions_cursor *)base;
    uint32_t function = cursor->function;

    if (which >= FUNCTIONS_CALLS && which <= FUNCTIONS_MAX)
        put_number(cursor, result, which);
    else if (which == FUNCTIONS_PID)
        sqlite3_result_int64(
            result, base->source->trace->processes[query_source_function(base->source, function)->shown->process].pid);
    else
        place_column_put(base, result, places[which], NULL, function);
}

extern const struct query_table query_table_functions;
const struct query_table query_table_functions = {
    .name = "functions",
    .meaning = "functions that were called, with sums over their calls",
    .columns = columns,
    .column_count = FUNCTIONS_COLUMNS,
    .cursor_bytes = sizeof(struct functions_cursor),
    .cost = cost,
    .begin = begin,
    .next = next,
    .column = column,
    .end = query_cursor_end_nothing,
};
