/* SPDX-License-Identifier: MIT */
#include "query/query_filter.h"

#include "support/check.h"

#include <sqlite3.h>

static sqlite3 *database;
static sqlite3_stmt *statement;

/* The value of an expression, until the next one. */
static sqlite3_value *value_of(const char *expression)
{
    char sql[128];

    sqlite3_finalize(statement);
    snprintf(sql, sizeof(sql), "select %s", expression);
    CHECK_EQUAL(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    CHECK_EQUAL(sqlite3_step(statement), SQLITE_ROW);
    return sqlite3_column_value(statement, 0);
}

static struct query_filter filter;

static void add(int column, enum query_comparison comparison, bool is_text, const char *expression)
{
    CHECK_EQUAL(query_filter_add(&filter, column, comparison, is_text, false, value_of(expression)), 0);
}

static void begin(void)
{
    CHECK_EQUAL(sqlite3_open(":memory:", &database), SQLITE_OK);
}

static void end(void)
{
    query_filter_deinit(&filter);
    sqlite3_finalize(statement);
    statement = NULL;
    sqlite3_close(database);
}

static void numbers_are_within_all_ranges(void)
{
    begin();
    CHECK(query_filter_takes_number(&filter, 1, -7));
    add(1, QUERY_GREATER, false, "3");
    add(1, QUERY_LESS_EQUAL, false, "9");
    CHECK(!query_filter_takes_number(&filter, 1, 3) && query_filter_takes_number(&filter, 1, 4));
    CHECK(query_filter_takes_number(&filter, 1, 9) && !query_filter_takes_number(&filter, 1, 10));
    CHECK(query_filter_takes_number(&filter, 2, 10));
    CHECK_EQUAL(query_filter_range(&filter, 1).low, 4);
    CHECK_EQUAL(query_filter_range(&filter, 1).high, 9);
    CHECK(query_filter_has(&filter, 1) && !query_filter_has(&filter, 2));
    end();
}

/* What is between two integers is left to SQLite. */
static void fractions_take_both_neighbours(void)
{
    begin();
    add(0, QUERY_GREATER, false, "2.5");
    add(0, QUERY_LESS, false, "7.25");
    CHECK_EQUAL(query_filter_range(&filter, 0).low, 2);
    CHECK_EQUAL(query_filter_range(&filter, 0).high, 8);
    add(3, QUERY_LESS, false, "1e300");
    add(3, QUERY_GREATER, false, "-1e300");
    CHECK_EQUAL(query_filter_range(&filter, 3).low, INT64_MIN);
    CHECK_EQUAL(query_filter_range(&filter, 3).high, INT64_MAX);
    add(4, QUERY_LESS, false, "1000.0");
    CHECK_EQUAL(query_filter_range(&filter, 4).high, 999);
    end();
}

static void texts_are_compared_as_sqlite_does(void)
{
    begin();
    add(0, QUERY_LIKE, true, "'a%Z'");
    CHECK(query_filter_takes_text(&filter, 0, "A..z") && !query_filter_takes_text(&filter, 0, "A.."));
    add(1, QUERY_GLOB, true, "'a*z'");
    CHECK(query_filter_takes_text(&filter, 1, "a..z") && !query_filter_takes_text(&filter, 1, "A..z"));
    add(2, QUERY_EQUAL, true, "'az'");
    CHECK(query_filter_takes_text(&filter, 2, "az") && !query_filter_takes_text(&filter, 2, "aZ"));
    end();
}

static void values_of_another_type_are_left_to_sqlite(void)
{
    begin();
    add(0, QUERY_EQUAL, false, "'7'");
    add(0, QUERY_EQUAL, false, "null");
    add(1, QUERY_EQUAL, true, "7");
    CHECK_EQUAL(filter.count, 0);
    CHECK(query_filter_takes_number(&filter, 0, 8) && query_filter_takes_text(&filter, 1, "8"));
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(numbers_are_within_all_ranges),
    CHECK_CASE(fractions_take_both_neighbours),
    CHECK_CASE(texts_are_compared_as_sqlite_does),
    CHECK_CASE(values_of_another_type_are_left_to_sqlite),
};

CHECK_MAIN(cases)
