/* SPDX-License-Identifier: MIT */
#include "query/scanned_rows.h"

#include "support/check.h"
#include "support/query_lab.h"

#include <errno.h>

#define TIME_COLUMN PLACE_COLUMNS

struct row {
    uint32_t kind;
    uint64_t time;
};

/* A row for each event, as a table would make them. */
struct cursor {
    struct scanned_rows scanned;
    size_t begun, ended;
    bool is_failing;
};

static struct query_lab lab;
static struct cursor cursor;

static int take(void *context, const struct gait_event *events, size_t count, const struct trace_span *span)
{
    struct cursor *taking = context;

    for (size_t i = 0; i < count; i++) {
        struct row *row = scanned_rows_add(&taking->scanned);

        CHECK(row != NULL);
        *row = (struct row){events[i].kind, trace_span_time(span, events, count, i)};
    }
    return taking->is_failing ? taking->scanned.result = -ENOMEM : 0;
}

static void begin_thread(void *context, size_t thread)
{
    struct cursor *taking = context;

    CHECK_EQUAL(taking->scanned.thread.thread, thread);
    taking->begun++;
}

static void end_thread(void *context, size_t thread)
{
    (void)thread;
    ((struct cursor *)context)->ended++;
}

static struct scanned_rows_kind kind_of(bool is_in_order)
{
    return (struct scanned_rows_kind){
        .receiver = {take, NULL, NULL, NULL},
        .begin = begin_thread,
        .end = end_thread,
        .row_bytes = sizeof(struct row),
        .time_column = TIME_COLUMN,
        .counted_column = COUNTED_EVENT_COLUMNS,
        .subject = EVENT_TALLY_EVENTS,
        .is_in_order = is_in_order,
    };
}

static void begin(void)
{
    query_lab_init(&lab);
    cursor = (struct cursor){.scanned.base.source = &lab.source, .scanned.kinds = UINT32_MAX};
    /* The time is wanted: nothing can be counted. */
    cursor.scanned.base.wish.columns = 1ull << 40;
}

static void end(void)
{
    scanned_rows_end(&cursor.scanned);
    query_lab_deinit(&lab);
}

static size_t count_rows(void)
{
    size_t count = 0;

    while (scanned_rows_next(&cursor.scanned.base) == 1)
        count++;
    return count;
}

static void rows_of_all_threads_come_one_by_one(void)
{
    const struct scanned_rows_kind kind = kind_of(true);
    size_t count = 0, enters = 0;
    uint64_t before = 0;

    begin();
    CHECK_EQUAL(scanned_rows_begin(&cursor.scanned, &kind), 0);
    CHECK(!cursor.scanned.is_counting);
    CHECK(cursor.scanned.first <= lab.trace.clock.first.counter && cursor.scanned.last == UINT64_MAX);
    while (scanned_rows_next(&cursor.scanned.base) == 1) {
        const struct row *row = scanned_rows_row(&cursor.scanned);

        before = cursor.scanned.at == 0 ? 0 : before;
        CHECK(row->time >= before);
        before = row->time;
        enters += row->kind == GAIT_EVENT_ENTER;
        count++;
    }
    CHECK_EQUAL(count, 10);
    CHECK_EQUAL(enters, 6);
    CHECK_EQUAL(cursor.begun, 2);
    CHECK_EQUAL(cursor.ended, 2);
    end();
}

static void threads_that_conditions_exclude_are_not_read(void)
{
    const struct scanned_rows_kind kind = kind_of(true);
    struct query_range range;
    struct query_condition condition = {.column = PLACE_TID, .ranges = &range, .count = 1};

    begin();
    range.low = range.high = lab.trace.threads[1].tid;
    cursor.scanned.base.filter = (struct query_filter){&condition, 1};
    CHECK_EQUAL(scanned_rows_begin(&cursor.scanned, &kind), 0);
    CHECK_EQUAL(count_rows(), 4);
    CHECK_EQUAL(cursor.begun, 1);
    end();
}

static void an_error_ends_the_rows(void)
{
    const struct scanned_rows_kind kind = kind_of(true);

    begin();
    cursor.is_failing = true;
    CHECK_EQUAL(scanned_rows_begin(&cursor.scanned, &kind), 0);
    CHECK_EQUAL(scanned_rows_next(&cursor.scanned.base), -ENOMEM);
    CHECK_EQUAL(cursor.begun, 1);
    end();
}

static bool counts(const struct scanned_rows_kind *kind, bool has_limit)
{
    bool is_counting;

    begin();
    cursor.scanned.base.wish = (struct query_wish){.columns = 1u << PLACE_FUNCTION, .has_limit = has_limit};
    CHECK_EQUAL(scanned_rows_begin(&cursor.scanned, kind), 0);
    is_counting = cursor.scanned.is_counting;
    CHECK_EQUAL(count_rows(), 10);
    CHECK(!is_counting || (cursor.begun == 0 && cursor.scanned.counted_row == NULL));
    end();
    return is_counting;
}

static void what_is_alike_is_counted_unless_its_order_matters_or_few_are_wanted(void)
{
    struct scanned_rows_kind kind = kind_of(false);

    CHECK(counts(&kind, false));
    CHECK(!counts(&kind, true));
    kind.is_in_order = true;
    CHECK(!counts(&kind, false));
}

static const struct check_case cases[] = {
    CHECK_CASE(rows_of_all_threads_come_one_by_one),
    CHECK_CASE(threads_that_conditions_exclude_are_not_read),
    CHECK_CASE(an_error_ends_the_rows),
    CHECK_CASE(what_is_alike_is_counted_unless_its_order_matters_or_few_are_wanted),
};

CHECK_MAIN(cases)
