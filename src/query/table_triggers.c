/* SPDX-License-Identifier: MIT */
/* triggers: what happened around which records are kept. */
#include "query/place_columns.h"

enum triggers_column {
    TRIGGERS_KIND,
    TRIGGERS_TEXT,
    TRIGGERS_TIME,
    TRIGGERS_PID,
    TRIGGERS_TID,
    TRIGGERS_COLUMNS,
};

static const struct query_column columns[] = {
    [TRIGGERS_KIND] = {"kind", "TEXT", "as --trigger calls it: 'manual', 'symbol', 'slow', 'signal', 'crash', ...", 0},
    [TRIGGERS_TEXT] = {"text", "TEXT", "what was asked for, or a note", 0},
    [TRIGGERS_TIME] = {"time_ns", "INTEGER", "when, since the recording began", 0},
    [TRIGGERS_PID] = {"pid", "INTEGER", "NULL: of no process", 0},
    [TRIGGERS_TID] = {"tid", "INTEGER", "NULL: of no thread", 0},
};

struct triggers_cursor {
    struct query_cursor base;
    size_t next;
};

static double cost(const struct query_source *source)
{
    return (double)source->trace->manifest.trigger_count + 1;
}

static int next(struct query_cursor *base)
{
    struct triggers_cursor *cursor = (struct triggers_cursor *)base;

    return ++cursor->next <= base->source->trace->manifest.trigger_count;
}

static void column(struct query_cursor *base, sqlite3_context *result, int which)
{
    const struct view_trace *trace = base->source->trace;
    const struct manifest_trigger *trigger = &trace->manifest.triggers[((struct triggers_cursor *)base)->next - 1];

    if (which == TRIGGERS_KIND)
        place_text_put(result, trigger->kind);
    else if (which == TRIGGERS_TEXT)
        place_text_put(result, trigger->text);
    else if (which == TRIGGERS_TIME)
        sqlite3_result_int64(result, (int64_t)view_trace_ns(trace, trigger->time));
    else if (which == TRIGGERS_PID && trigger->pid != 0)
        sqlite3_result_int64(result, trigger->pid);
    else if (which == TRIGGERS_TID && trigger->tid != 0)
        sqlite3_result_int64(result, trigger->tid);
}

extern const struct query_table query_table_triggers;
const struct query_table query_table_triggers = {
    .name = "triggers",
    .meaning = "what happened around which records are kept",
    .columns = columns,
    .column_count = TRIGGERS_COLUMNS,
    .cursor_bytes = sizeof(struct triggers_cursor),
    .cost = cost,
    .begin = query_cursor_begin_nothing,
    .next = next,
    .column = column,
    .end = query_cursor_end_nothing,
};
