/* SPDX-License-Identifier: MIT */
#include "query/counted_rows.h"

#include "support/check.h"
#include "support/query_text.h"
#include "view/view_trace.h"

static struct trace_folder folder;
static struct view_trace trace;
static struct query_source source;
static struct query_cursor cursor;
static struct counted_rows rows;

static void begin(void)
{
    trace_folder_init(&folder);
    query_text_put_hooked(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(query_source_init(&source, &trace, NULL), 0);
    cursor = (struct query_cursor){.source = &source};
}

static void end(void)
{
    counted_rows_deinit(&rows);
    query_source_deinit(&source);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void columns_of_places_and_the_kind_suit(void)
{
    struct query_wish wish = {.columns = 1u << PLACE_FUNCTION | 1u << PLACE_TID};

    CHECK(counted_rows_suit(&wish, COUNTED_CALL_COLUMNS));
    wish.orders[wish.order_count++] = (struct query_order){PLACE_COLUMNS, false};
    CHECK(!counted_rows_suit(&wish, COUNTED_CALL_COLUMNS));
    CHECK(counted_rows_suit(&wish, COUNTED_EVENT_COLUMNS));
    wish.has_row_numbers = true;
    CHECK(!counted_rows_suit(&wish, COUNTED_EVENT_COLUMNS));
    wish = (struct query_wish){.columns = 1u << (PLACE_COLUMNS + 1)};
    CHECK(!counted_rows_suit(&wish, COUNTED_EVENT_COLUMNS));
    wish.columns = 1ull << 63;
    CHECK(!counted_rows_suit(&wish, COUNTED_EVENT_COLUMNS));
}

static void rows_are_told_as_often_as_they_were_counted(void)
{
    size_t leaves = 0, all = 0;

    begin();
    CHECK_EQUAL(counted_rows_init(&rows, &cursor, EVENT_TALLY_EVENTS), 0);
    while (counted_rows_next(&rows, GAIT_EVENT_LEAVE) != NULL)
        leaves++;
    counted_rows_deinit(&rows);
    CHECK_EQUAL(leaves, 4);
    CHECK_EQUAL(counted_rows_init(&rows, &cursor, EVENT_TALLY_CALLS), 0);
    while (counted_rows_next(&rows, 0) != NULL)
        all++;
    CHECK_EQUAL(all, 6);
    end();
}

static void with_weights_each_is_told_once(void)
{
    const struct event_tally_count *count;
    uint64_t sum = 0;
    size_t told = 0;

    begin();
    source.weights = (struct count_weights){.select_count = 1, .cursor_count = 1, .has_count = true};
    cursor.wish.orders[cursor.wish.order_count++] = (struct query_order){PLACE_COLUMNS, true};
    CHECK_EQUAL(counted_rows_init(&rows, &cursor, EVENT_TALLY_EVENTS), 0);
    CHECK(source.weights.is_weighing);
    while ((count = counted_rows_next(&rows, UINT32_MAX)) != NULL) {
        CHECK_EQUAL(source.weights.weight, count->count);
        /* Leaves first: the order is descending. */
        CHECK(told > 2 || count->kind == GAIT_EVENT_LEAVE);
        sum += count->count;
        told++;
    }
    CHECK_EQUAL(source.weights.weight, 0);
    CHECK_EQUAL(sum, 10);
    CHECK_EQUAL(told, 7);
    counted_rows_deinit(&rows);
    CHECK(!source.weights.is_weighing);
    CHECK_EQUAL(counted_rows_init(&rows, &cursor, EVENT_TALLY_EVENTS), 0);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(columns_of_places_and_the_kind_suit),
    CHECK_CASE(rows_are_told_as_often_as_they_were_counted),
    CHECK_CASE(with_weights_each_is_told_once),
};

CHECK_MAIN(cases)
