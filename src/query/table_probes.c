/* SPDX-License-Identifier: MIT */
/* probes: static probes that were passed, a row each time. */
#include "query/placed_details.h"
#include "trace/detail_text.h"
#include "view/record_words.h"

#include <string.h>

#define ARGUMENTS 12

enum probes_column {
    PROBES_PROVIDER = PLACE_COLUMNS,
    PROBES_NAME,
    PROBES_TIME,
    PROBES_ARGUMENTS,
    PROBES_ARGUMENT_0,
    PROBES_COLUMNS = PROBES_ARGUMENT_0 + ARGUMENTS,
};

static const struct query_column columns[] = {
    PLACE_COLUMN_LIST("the function that the probe is in"),
    [PROBES_PROVIDER] = {"provider", "TEXT", "whose probe it is; NULL: not known", 0},
    [PROBES_NAME] = {"name", "TEXT", "what it is called", 0},
    [PROBES_TIME] = {"time_ns", "INTEGER", "when it was passed, since the recording began", 0},
    [PROBES_ARGUMENTS] = {"arguments", "TEXT", "all of them: 7, \"text\"", 0},
    [PROBES_ARGUMENT_0] = {"arg0", "", "the first of them: a number, or a string", 0},
    {"arg1", "", "and so on", 0},
    {"arg2", "", "", 0},
    {"arg3", "", "", 0},
    {"arg4", "", "", 0},
    {"arg5", "", "", 0},
    {"arg6", "", "", 0},
    {"arg7", "", "", 0},
    {"arg8", "", "", 0},
    {"arg9", "", "", 0},
    {"arg10", "", "", 0},
    {"arg11", "", "", 0},
};

struct probes_cursor {
    struct placed_details details;
    struct detail_probe probe;
};

static int next(struct query_cursor *base)
{
    struct probes_cursor *cursor = (struct probes_cursor *)base;

    if (!placed_details_next(&cursor->details, DETAIL_PROBE))
        return 0;
    memcpy(&cursor->probe, cursor->details.scan.record, sizeof(cursor->probe));
    return 1;
}

static void put_arguments(const struct probes_cursor *cursor, sqlite3_context *result)
{
    char bytes[DETAIL_TEXT_BYTES];
    struct detail_text text;

    detail_text_init(&text, bytes, sizeof(bytes));
    probe_text_put_arguments(&text, detail_record_values(cursor->details.scan.record));
    if (text.used != 0)
        sqlite3_result_text(result, bytes, -1, SQLITE_TRANSIENT);
}

/* With its sign, if it has one. */
static int64_t number_of(const struct detail_value *value, const uint8_t *data)
{
    unsigned unused = 64 - 8u * value->data_bytes;
    uint64_t bits = 0;

    memcpy(&bits, data, value->data_bytes);
    return value->type <= DETAIL_TYPE_I64 ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

/* Floating-point numbers and bytes are what the text shows. */
static void put_value(sqlite3_context *result, const struct detail_value *value, const uint8_t *data)
{
    char bytes[DETAIL_TEXT_BYTES];
    struct detail_text text;
    uint32_t fixed_bytes = detail_type_bytes(value->type);

    if (value->data_bytes == 0 || value->flags & (DETAIL_VALUE_UNREADABLE | DETAIL_VALUE_LEFT_OUT))
        return;
    if (value->type == DETAIL_TYPE_STRING) {
        sqlite3_result_text(result, (const char *)data, value->data_bytes, SQLITE_TRANSIENT);
    } else if (fixed_bytes != 0 && fixed_bytes <= sizeof(uint64_t) && value->type != DETAIL_TYPE_FLOAT &&
               value->type != DETAIL_TYPE_DOUBLE) {
        sqlite3_result_int64(result, number_of(value, data));
    } else {
        detail_text_init(&text, bytes, sizeof(bytes));
        detail_text_put(&text, value, data);
        sqlite3_result_text(result, bytes, -1, SQLITE_TRANSIENT);
    }
}

static void put_argument(const struct probes_cursor *cursor, sqlite3_context *result, int which)
{
    struct detail_values values = detail_record_values(cursor->details.scan.record);
    struct detail_value value;
    const uint8_t *data;
    size_t at = 0;

    for (int i = 0; detail_value_next(values.bytes, values.size_bytes, &at, &value, &data); i++)
        if (i == which)
            put_value(result, &value, data);
}

static void column(struct query_cursor *base, sqlite3_context *result, int which)
{
    struct probes_cursor *cursor = (struct probes_cursor *)base;
    const struct view_trace *trace = base->source->trace;
    const struct manifest_probe *probe =
        probe_names_find(trace, cursor->details.scan.thread.process, cursor->probe.probe);

    if (which < PLACE_COLUMNS)
        place_column_put(base, result, which, &cursor->details.scan.thread, cursor->details.function);
    else if (which == PROBES_PROVIDER || which == PROBES_NAME)
        place_text_put(result, probe == NULL ? NULL : which == PROBES_PROVIDER ? probe->provider : probe->name);
    else if (which == PROBES_TIME)
        sqlite3_result_int64(result, (int64_t)view_trace_ns(trace, cursor->probe.record.time));
    else if (which == PROBES_ARGUMENTS)
        put_arguments(cursor, result);
    else
        put_argument(cursor, result, which - PROBES_ARGUMENT_0);
}

extern const struct query_table query_table_probes;
const struct query_table query_table_probes = {
    .name = "probes",
    .meaning = "static probes that were passed, where --probe asked for them",
    .columns = columns,
    .column_count = PROBES_COLUMNS,
    .cursor_bytes = sizeof(struct probes_cursor),
    .cost = placed_details_cost,
    .begin = placed_details_begin,
    .next = next,
    .column = column,
    .end = placed_details_end,
};
