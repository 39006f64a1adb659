/* SPDX-License-Identifier: MIT */
/*
 * Rows that a table makes of the events of threads, a chunk at a time, or that are counted (counted_rows.h): what the
 * tables of events and of calls have in common. Their cursors begin with it. One thread at a time.
 */
#ifndef GAIT_QUERY_SCANNED_ROWS_H
#define GAIT_QUERY_SCANNED_ROWS_H

#include "query/counted_rows.h"
#include "query/event_scan.h"
#include "query/place_columns.h"

/* What differs from table to table. The context of all functions is the table's cursor. */
struct scanned_rows_kind {
    struct trace_events_receiver receiver; /* of events */
    void (*begin)(void *context, size_t thread);
    void (*end)(void *context, size_t thread); /* NULL: there is nothing to do */
    size_t row_bytes;
    int time_column;    /* by which rows are chosen */
    int counted_column; /* all columns before it can be counted */
    enum event_tally_subject subject;
    bool is_in_order; /* also without an order, rows come as things happened */
};

struct scanned_rows {
    struct query_cursor base;
    const struct scanned_rows_kind *kind;
    struct event_scan scan;
    struct place_thread thread; /* that is read, and that rows are of */
    struct place_verdicts verdicts;
    uint64_t first; /* the counter: of what is wanted the first, */
    uint64_t last;  /* and the last */
    uint32_t kinds; /* of events that are counted */
    bool is_counting;
    struct counted_rows counted;
    const struct event_tally_count *counted_row; /* that the cursor is at, where rows are counted */
    void *rows;                                  /* of the last chunk */
    size_t at;
    size_t count;
    size_t capacity;
    int result; /* -ENOMEM */
};

/* For a table's begin. */
MUST_USE int scanned_rows_begin(struct scanned_rows *rows, const struct scanned_rows_kind *kind);

/* One more row, for the table to fill. NULL: there is no memory, which is noted. */
void *scanned_rows_add(struct scanned_rows *rows);

/* A table's next. */
int scanned_rows_next(struct query_cursor *cursor);

/* The row that the cursor is at, where rows are not counted. */
static inline const void *scanned_rows_row(const struct scanned_rows *rows)
{
    return (const char *)rows->rows + rows->at * rows->kind->row_bytes;
}

/* For a table's end. */
void scanned_rows_end(struct scanned_rows *rows);

#endif
