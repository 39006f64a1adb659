/* SPDX-License-Identifier: MIT */
#include "query/scanned_rows.h"

#include "hosted/growing_array.h"

#include <errno.h>
#include <stdlib.h>

static bool wants_thread(void *context, size_t thread)
{
    const struct scanned_rows *rows = context;
    struct place_thread place = place_of_thread(rows->base.source->trace, thread);

    return place_takes_thread(&rows->base, &place);
}

static void begin_thread(void *context, size_t thread)
{
    struct scanned_rows *rows = context;

    rows->thread = place_of_thread(rows->base.source->trace, thread);
    rows->kind->begin(context, thread);
}

static uint64_t counter_of(const struct scanned_rows *rows, int64_t ns)
{
    return view_clock_counter(&rows->base.source->trace->clock, ns < 0 ? 0 : (uint64_t)ns);
}

/* Who wants but a few rows should not wait for all. */
static bool can_count(const struct scanned_rows *rows)
{
    const struct query_wish *wish = &rows->base.wish;

    return counted_rows_suit(wish, rows->kind->counted_column) &&
           (wish->order_count != 0 || (!rows->kind->is_in_order && !wish->has_limit) ||
            counted_rows_weigh(&rows->base));
}

int scanned_rows_begin(struct scanned_rows *rows, const struct scanned_rows_kind *kind)
{
    struct query_range time = query_filter_range(&rows->base.filter, kind->time_column);

    rows->kind = kind;
    rows->scan = (struct event_scan){
        .trace = rows->base.source->trace,
        .receiver = kind->receiver,
        .wants = wants_thread,
        .begin = begin_thread,
        .end = kind->end,
        .context = rows,
    };
    place_verdicts_init(&rows->verdicts, &rows->base);
    rows->first = counter_of(rows, time.low);
    rows->last = time.high < 0 ? 0 : time.high == INT64_MAX ? UINT64_MAX : counter_of(rows, time.high + 1) - 1;
    rows->is_counting = can_count(rows);
    return rows->is_counting ? counted_rows_init(&rows->counted, &rows->base, kind->subject) : 0;
}

void *scanned_rows_add(struct scanned_rows *rows)
{
    size_t row_bytes = rows->kind->row_bytes;

    if (growing_array_reserve(&rows->rows, &rows->capacity, rows->count + 1, row_bytes) != 0) {
        rows->result = -ENOMEM;
        return NULL;
    }
    return (char *)rows->rows + rows->count++ * row_bytes;
}

static int next_counted(struct scanned_rows *rows)
{
    rows->counted_row = counted_rows_next(&rows->counted, rows->kinds);
    if (rows->counted_row == NULL)
        return 0;
    rows->thread = place_of_thread(rows->base.source->trace, rows->counted_row->thread);
    return 1;
}

int scanned_rows_next(struct query_cursor *cursor)
{
    struct scanned_rows *rows = (struct scanned_rows *)cursor;
    bool goes_on = true;

    if (rows->is_counting)
        return next_counted(rows);
    if (++rows->at < rows->count)
        return 1;
    rows->at = rows->count = 0;
    while (goes_on && rows->count == 0 && rows->result == 0)
        goes_on = event_scan_step(&rows->scan);
    return rows->result != 0 ? rows->result : rows->count != 0;
}

void scanned_rows_end(struct scanned_rows *rows)
{
    event_scan_deinit(&rows->scan);
    query_source_note(rows->base.source, rows->scan.problem, &rows->scan.why);
    place_verdicts_deinit(&rows->verdicts);
    free(rows->rows);
    if (rows->is_counting)
        counted_rows_deinit(&rows->counted);
}
