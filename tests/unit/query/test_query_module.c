/* SPDX-License-Identifier: MIT */
/* The frame of tables, by one of our own that counts to a thousand and notes what it was asked for. */
#include "query/query_table.h"

#include "support/check.h"
#include "support/trace_folder.h"
#include "view/view_trace.h"

#include <errno.h>

struct numbers_cursor {
    struct query_cursor base;
    int64_t number;
};

static struct query_wish last_wish;
static size_t last_conditions;
static unsigned begun, ended;
static int64_t fails_at;

static double cost(const struct query_source *source)
{
    (void)source;
    return 1000;
}

static bool keeps_order(const struct query_wish *wish)
{
    return wish->order_count == 1 && wish->orders[0].column == 0 && !wish->orders[0].is_descending;
}

static int begin(struct query_cursor *base)
{
    last_wish = base->wish;
    last_conditions = base->filter.count;
    begun++;
    return 0;
}

static int next(struct query_cursor *base)
{
    struct numbers_cursor *cursor = (struct numbers_cursor *)base;

    do
        cursor->number++;
    while (cursor->number <= 1000 && !query_filter_takes_number(&base->filter, 0, cursor->number));
    if (cursor->number == fails_at) {
        struct gait_error why = {.text = "the number is bad"};

        query_source_note(base->source, -EIO, &why);
        return -EIO;
    }
    return cursor->number <= 1000;
}

static void column(struct query_cursor *base, sqlite3_context *result, int which)
{
    struct numbers_cursor *cursor = (struct numbers_cursor *)base;

    if (which == 0)
        sqlite3_result_int64(result, cursor->number);
    else
        sqlite3_result_text(result, cursor->number % 2 == 0 ? "even" : "odd", -1, SQLITE_STATIC);
}

static void end(struct query_cursor *base)
{
    (void)base;
    ended++;
}

static const struct query_column columns[] = {{"number", "INTEGER", "", QUERY_PUSH_NUMBER},
                                              {"parity", "TEXT", "", QUERY_PUSH_TEXT}};
static const struct query_table numbers = {
    "numbers", "", columns, 2, sizeof(struct numbers_cursor), cost, keeps_order, begin, next, column, end};

static struct trace_folder folder;
static struct view_trace trace;
static struct query_source source;
static sqlite3 *database;

static void open_all(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(query_source_init(&source, &trace, NULL), 0);
    CHECK_EQUAL(sqlite3_open(":memory:", &database), SQLITE_OK);
    CHECK_EQUAL(query_module_register(database, "numbers", &numbers, &source), SQLITE_OK);
    begun = ended = 0;
    fails_at = 0;
}

static void close_all(void)
{
    CHECK_EQUAL(sqlite3_close(database), SQLITE_OK);
    query_source_deinit(&source);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
    CHECK_EQUAL(begun, ended);
}

/* The first value of the first row, and how many columns there are. */
static int64_t ask(const char *sql, int *columns_out)
{
    sqlite3_stmt *statement;
    int64_t value;

    CHECK_EQUAL(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    value = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
    if (columns_out != NULL)
        *columns_out = sqlite3_column_count(statement);
    sqlite3_finalize(statement);
    return value;
}

static void rows_are_pulled_with_all_columns(void)
{
    int count;

    open_all();
    CHECK_EQUAL(ask("select * from numbers", &count), 1);
    CHECK_EQUAL(count, 2);
    CHECK_EQUAL(ask("select sum(number) from numbers where parity = 'even'", NULL), 250500);
    CHECK_EQUAL(last_wish.columns, 3);
    /* Numbers of rows are for statements that name them: others would be led astray. */
    CHECK_EQUAL(ask("select max(rowid) from numbers", NULL), -1);
    source.weights.has_row_numbers = true;
    CHECK_EQUAL(ask("select max(rowid) from numbers", NULL), 1000);
    CHECK_EQUAL(ask("select max(rowid) from numbers where parity = 'odd'", NULL), 999);
    source.weights.has_row_numbers = false;
    close_all();
}

static void conditions_reach_the_table(void)
{
    open_all();
    CHECK_EQUAL(ask("select count(*) from numbers where number between 10 and 19 and number <> 12", NULL), 9);
    CHECK_EQUAL(last_conditions, 2);
    CHECK_EQUAL(ask("select sum(number) from numbers where number in (3, 5, 2000)", NULL), 8);
    CHECK_EQUAL(last_conditions, 1);
    CHECK_EQUAL(begun, 2);
    CHECK_EQUAL(ask("select count(*) from numbers a join numbers b on b.number = a.number", NULL), 1000);
    close_all();
}

static void an_order_that_is_kept_is_not_made_again(void)
{
    open_all();
    CHECK_EQUAL(ask("select number from numbers order by number limit 1", NULL), 1);
    CHECK(last_wish.order_count == 1 && last_wish.has_limit && !last_wish.is_distinct);
    CHECK_EQUAL(ask("select number from numbers order by number desc", NULL), 1000);
    CHECK_EQUAL(last_wish.order_count, 0);
    CHECK_EQUAL(ask("select distinct number from numbers", NULL), 1);
    CHECK(last_wish.is_distinct);
    close_all();
}

static void a_failure_ends_the_statement_with_its_reason(void)
{
    sqlite3_stmt *statement;

    open_all();
    fails_at = 2;
    CHECK_EQUAL(sqlite3_prepare_v2(database, "select number from numbers", -1, &statement, NULL), SQLITE_OK);
    CHECK_EQUAL(sqlite3_step(statement), SQLITE_ROW);
    CHECK_EQUAL(sqlite3_step(statement), SQLITE_ERROR);
    CHECK_TEXT(sqlite3_errmsg(database), "the number is bad");
    sqlite3_finalize(statement);
    close_all();
}

static const struct check_case cases[] = {
    CHECK_CASE(rows_are_pulled_with_all_columns),
    CHECK_CASE(conditions_reach_the_table),
    CHECK_CASE(an_order_that_is_kept_is_not_made_again),
    CHECK_CASE(a_failure_ends_the_statement_with_its_reason),
};

CHECK_MAIN(cases)
