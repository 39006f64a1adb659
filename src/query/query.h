/* SPDX-License-Identifier: MIT */
/*
 * SQL over a trace that is open: each table of query_tables.def reads the trace when it is asked for, and nothing is
 * stored. Only reading is possible. Memory does not grow with events. One thread at a time.
 */
#ifndef GAIT_QUERY_QUERY_H
#define GAIT_QUERY_QUERY_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct view_trace;

enum query_type { QUERY_NULL, QUERY_INTEGER, QUERY_REAL, QUERY_TEXT, QUERY_BLOB };

struct query_value {
    enum query_type type;
    int64_t integer;
    double real;
    const char *bytes; /* of texts and blobs; behind those of a text is a NUL */
    size_t size_bytes;
};

/* Takes what statements return. Nonzero from any of them: no more is wanted. */
struct query_receiver {
    /* A statement that returns rows; there may be none. */
    int (*begin)(void *context, const char *const *names, size_t count);
    int (*row)(void *context, const struct query_value *values, size_t count);
    int (*end)(void *context);
    void *context;
};

/*
 * Runs all statements of a text. 0, or the receiver's own result. Negative: err says what SQLite says, or what of the
 * trace could not be read: then all that could be was returned. -EOPNOTSUPP: this gait was built without SQLite.
 */
MUST_USE int query_run(const struct view_trace *trace, const char *sql, const struct query_receiver *receiver,
                       struct gait_error *err);

/* ---- what there is to ask for ------------------------------------------------------------------------------------ */

struct query_column {
    const char *name;
    const char *type; /* "TEXT" or "INTEGER"; "": either */
    const char *meaning;
    unsigned pushes; /* of enum query_push, for the table itself */
};

struct query_table_text {
    const char *name;
    const char *meaning;
    const struct query_column *columns;
    size_t column_count;
};

/* The table with that number, from 0 on. False: there are no more. */
bool query_tables_describe(size_t which, struct query_table_text *text_out);

#endif
