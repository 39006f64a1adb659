/* SPDX-License-Identifier: MIT */
/* stacks: who called, a row for each stack that --stack had kept. Callers are an array of JSON, the nearest first. */
#include "hosted/json_writer.h"
#include "query/placed_details.h"
#include "symbolize/stack_names.h"

#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 1024

enum stacks_column {
    STACKS_TIME = PLACE_COLUMNS,
    STACKS_CALLER,
    STACKS_CALLERS,
    STACKS_CALLER_COUNT,
    STACKS_GOES_ON,
    STACKS_COLUMNS,
};

static const struct query_column columns[] = {
    PLACE_COLUMN_LIST("the function that was called"),
    [STACKS_TIME] = {"time_ns", "INTEGER", "when, since the recording began", 0},
    [STACKS_CALLER] = {"caller", "TEXT", "who called it, with the place", 0},
    [STACKS_CALLERS] = {"callers", "TEXT", "all callers, the nearest first, as JSON: for json_each(callers)", 0},
    [STACKS_CALLER_COUNT] = {"caller_count", "INTEGER", "how many these are", 0},
    [STACKS_GOES_ON] = {"goes_on", "INTEGER", "1: there were more", 0},
};

struct stacks_cursor {
    struct placed_details details;
    struct detail_stack stack;
};

static int next(struct query_cursor *base)
{
    struct stacks_cursor *cursor = (struct stacks_cursor *)base;

    if (!placed_details_next(&cursor->details, DETAIL_STACK))
        return 0;
    memcpy(&cursor->stack, cursor->details.scan.record, sizeof(cursor->stack));
    return 1;
}

static void name_caller(const struct stacks_cursor *cursor, uint32_t which, char name[NAME_BYTES])
{
    struct query_source *source = cursor->details.base.source;
    uint64_t address;

    memcpy(&address, cursor->details.scan.record + sizeof(cursor->stack) + which * sizeof(address), sizeof(address));
    stack_names_find(&source->trace->processes[cursor->details.scan.thread.process].modules, &source->functions->names,
                     cursor->stack.record.time, address, name, NAME_BYTES);
}

static void put_callers(const struct stacks_cursor *cursor, sqlite3_context *result)
{
    char name[NAME_BYTES], *text = NULL;
    size_t size;
    struct json_writer json = {.stream = open_memstream(&text, &size), .layout = JSON_DENSE};

    if (json.stream == NULL) {
        sqlite3_result_error_nomem(result);
        return;
    }
    json_writer_open(&json, NULL, '[');
    for (uint32_t i = 0; i < cursor->stack.frame_count; i++) {
        name_caller(cursor, i, name);
        json_writer_text(&json, NULL, name);
    }
    json_writer_close(&json, ']');
    if (fclose(json.stream) == 0)
        sqlite3_result_text(result, text, -1, free);
    else
        sqlite3_result_error_nomem(result);
}

static void column(struct query_cursor *base, sqlite3_context *result, int which)
{
    struct stacks_cursor *cursor = (struct stacks_cursor *)base;
    char name[NAME_BYTES];

    if (which < PLACE_COLUMNS) {
        place_column_put(base, result, which, &cursor->details.scan.thread, cursor->details.function);
        return;
    }
    switch (which) {
    case STACKS_TIME:
        sqlite3_result_int64(result, (int64_t)view_trace_ns(base->source->trace, cursor->stack.record.time));
        break;
    case STACKS_CALLER:
        if (cursor->stack.frame_count == 0)
            break;
        name_caller(cursor, 0, name);
        sqlite3_result_text(result, name, -1, SQLITE_TRANSIENT);
        break;
    case STACKS_CALLERS:
        put_callers(cursor, result);
        break;
    case STACKS_CALLER_COUNT:
        sqlite3_result_int64(result, cursor->stack.frame_count);
        break;
    default:
        sqlite3_result_int64(result, (cursor->stack.flags & DETAIL_STACK_GOES_ON) != 0);
        break;
    }
}

extern const struct query_table query_table_stacks;
const struct query_table query_table_stacks = {
    .name = "stacks",
    .meaning = "who called functions, where --stack kept that",
    .columns = columns,
    .column_count = STACKS_COLUMNS,
    .cursor_bytes = sizeof(struct stacks_cursor),
    .cost = placed_details_cost,
    .begin = placed_details_begin,
    .next = next,
    .column = column,
    .end = placed_details_end,
};
