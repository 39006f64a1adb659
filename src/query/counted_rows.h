/* SPDX-License-Identifier: MIT */
/*
 * Rows of calls or events of which only columns of the function and the thread, and the kind, are wanted. They are
 * alike by the million, so they are counted, and each is returned as often as it was counted, in the order that is
 * asked for; or once, where all that looks at it is count(*). One thread at a time.
 */
#ifndef GAIT_QUERY_COUNTED_ROWS_H
#define GAIT_QUERY_COUNTED_ROWS_H

#include "query/event_tally.h"
#include "query/place_columns.h"

struct counted_rows {
    struct query_cursor *cursor;
    struct place_verdicts verdicts;
    struct event_tally tally;
    size_t at;
    uint64_t left; /* of the row that it is at, how often it is still to be returned */
    bool is_weighing;
};

/* The table's columns up to this one can be counted; of events the kind is the one behind those of the place. */
#define COUNTED_CALL_COLUMNS  PLACE_COLUMNS
#define COUNTED_EVENT_COLUMNS (PLACE_COLUMNS + 1)

/* Whether all that is wanted is among so many columns; then rows can come in the order that is asked for. */
bool counted_rows_suit(const struct query_wish *wish, int column_count);

/* Whether the rows of the cursor are returned with weights if they are counted. */
bool counted_rows_weigh(const struct query_cursor *cursor);

/* Counts those of wanted threads; after an error it is to be given back as well. -ENOMEM. */
MUST_USE int counted_rows_init(struct counted_rows *rows, struct query_cursor *cursor,
                               enum event_tally_subject subject);
void counted_rows_deinit(struct counted_rows *rows);

/* The next row, whose kind is among these, unless they are calls; NULL: there are no more. */
const struct event_tally_count *counted_rows_next(struct counted_rows *rows, uint32_t kinds);

#endif
