/* SPDX-License-Identifier: MIT */
/* What count() tells must not depend on whether rows have weights. */
#include "query/count_weights.h"

#include "support/check.h"
#include "support/query_text.h"

#include <sqlite3.h>

static struct count_weights weights;

static void note(const char *table, const char *function)
{
    count_weights_begin(&weights);
    weights.cursor_count = 1;
    count_weights_note_select(&weights);
    count_weights_note_read(&weights, table, "function");
    count_weights_note_function(&weights, function);
}

static void only_statements_that_count_are_allowed(void)
{
    note("calls", "count");
    CHECK(count_weights_allow(&weights));
    count_weights_note_function(&weights, "LIKE");
    count_weights_note_read(&weights, "CALLS", "");
    CHECK(count_weights_allow(&weights));
    count_weights_note_function(&weights, "sum");
    CHECK(!count_weights_allow(&weights));
    note("calls", "count");
    count_weights_note_read(&weights, "threads", "");
    CHECK(!count_weights_allow(&weights));
    note("calls", "count");
    count_weights_note_read(&weights, "calls", "ROWID");
    CHECK(!count_weights_allow(&weights));
    note("calls", "count");
    count_weights_note_select(&weights);
    CHECK(!count_weights_allow(&weights));
    note("calls", "count");
    weights.cursor_count = 2;
    CHECK(!count_weights_allow(&weights));
    note("calls", "like");
    CHECK(!count_weights_allow(&weights));
}

/* Cursors that are open stay open, whatever is prepared. */
static void a_statement_begins_anew(void)
{
    note("calls", "sum");
    count_weights_begin(&weights);
    CHECK_EQUAL(weights.cursor_count, 1);
    CHECK_EQUAL(weights.select_count, 0);
    CHECK(!weights.has_other_functions && weights.table[0] == '\0');
}

static sqlite3 *database;

static int64_t ask(const char *sql)
{
    sqlite3_stmt *statement;
    int64_t value = -1;

    CHECK_EQUAL(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    if (sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static void count_adds_weights_of_rows_that_have_one(void)
{
    weights = (struct count_weights){.weight = 0};
    CHECK_EQUAL(sqlite3_open(":memory:", &database), SQLITE_OK);
    CHECK_EQUAL(count_weights_register(&weights, database), SQLITE_OK);
    CHECK_EQUAL(ask("select count(*) from (values (1), (2), (null))"), 3);
    CHECK_EQUAL(ask("select count(column1) from (values (1), (2), (null))"), 2);
    CHECK_EQUAL(ask("select count(distinct column1) from (values (1), (2), (2))"), 2);
    CHECK_EQUAL(ask("select count(*) from (values (1)) where 0"), 0);
    CHECK_EQUAL(ask("select sum(c) from (select count(*) over (order by column1 rows 1 preceding) c from (values (1), "
                    "(2), (3)))"),
                5);
    weights.is_weighing = true;
    weights.weight = 1000000;
    CHECK_EQUAL(ask("select count(*) from (values (1), (2))"), 2000000);
    CHECK(!count_weights_give_up(&weights));
    /* Whether values are to be distinct is not told. */
    CHECK_EQUAL(ask("select count(column1) from (values (1), (2))"), -1);
    CHECK(count_weights_give_up(&weights));
    CHECK(!count_weights_give_up(&weights));
    CHECK(weights.is_over && !weights.is_plain && !weights.is_weighing);
    weights.is_weighing = true;
    CHECK_EQUAL(ask("select count(*) from (values (1), (2))"), -1);
    CHECK(count_weights_give_up(&weights));
    sqlite3_close(database);
}

static void numbers_of_rows_are_for_those_who_name_them(void)
{
    note("calls", "count");
    CHECK(!count_weights_number(&weights));
    CHECK(count_weights_give_up(&weights));
    CHECK(weights.is_plain && !count_weights_allow(&weights));
    CHECK(count_weights_number(&weights));
    note("calls", "count");
    count_weights_note_read(&weights, "calls", "rowid");
    CHECK(count_weights_number(&weights));
    CHECK(!count_weights_give_up(&weights));
}

static struct trace_folder folder;

static void tells(const char *sql, const char *expected)
{
    CHECK_TEXT(query_text(folder.path, sql), expected);
}

static void all_kinds_of_statements_are_right(void)
{
    trace_folder_init(&folder);
    query_text_put_hooked(&folder);
    tells("select count(*) from events", "10\n");
    tells("select function, count(*) from events group by 1", "other+0x0|2\nshop+0x0|2\nshop+0x100|6\n");
    tells("select kind, tid, count(*) from events group by tid, kind",
          "enter|200|3\nleave|200|3\nenter|201|3\nleave|201|1\n");
    tells("select kind, count(*) from events group by kind order by count(*) desc", "enter|6\nleave|4\n");
    tells("select kind, count(*) from events group by kind having count(*) < 5", "leave|4\n");
    tells("select function, count(*) from events where kind = 'enter' group by 1 order by 2 desc, 1 limit 2",
          "shop+0x100|3\nother+0x0|2\n");
    tells("select function, count(kind) from events group by 1", "other+0x0|2\nshop+0x0|2\nshop+0x100|6\n");
    tells("select function, count(distinct function), count(*) from events group by 1",
          "other+0x0|1|2\nshop+0x0|1|2\nshop+0x100|1|6\n");
    tells("select function, count(function) filter (where function = 'shop+0x100'), count(*) from events group by 1",
          "other+0x0|0|2\nshop+0x0|0|2\nshop+0x100|6|6\n");
    tells("select function || '!', count(*) from events group by 1", "other+0x0!|2\nshop+0x0!|2\nshop+0x100!|6\n");
    tells("select function, count(*), sum(1), group_concat(kind) from events where tid = 201 group by 1",
          "other+0x0|2|2|enter,enter\nshop+0x100|2|2|enter,leave\n");
    tells("select count(*) from (select function from events limit 3)", "3\n");
    tells("select count(*) from events a, events b", "100\n");
    tells("select a.function, count(*) from events a, threads group by 1", "other+0x0|4\nshop+0x0|4\nshop+0x100|12\n");
    tells("select count(*) from events union all select count(*) from calls", "10\n6\n");
    tells("select count(*) over () from events limit 1", "10\n");
    tells("select (select count(*) from calls), count(*) from events", "6|10\n");
    tells("select count(*), max(rowid) from events group by kind order by 1", "4|8\n6|10\n");
    tells("select count(*) from events where function = 'nothing'", "0\n");
    tells("select count(*) from events where tid = 201 or function = 'shop+0x0'", "6\n");
    tells("select count(time_ns) from events where tid = 201 or function = 'shop+0x0'", "6\n");
    tells("select start_ns from calls where tid = 201 or function = 'shop+0x0' order by 1", "1000\n2000\n5000\n5100\n");
    tells("select function from functions where pid = 7 or function like 'shop%' or module = 'other' order by 1",
          "other+0x0\nshop+0x0\nshop+0x100\n");
    tells("select tid from threads where thread = 'main' or tid = 201 order by 1", "200\n201\n");
    tells("select max(rowid), min(rowid) from events where tid = 201 and kind = 'leave'", "8|8\n");
    tells("select count(*) from events limit 0", "");
    tells("select distinct count(*) from calls group by function", "2\n1\n3\n");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(only_statements_that_count_are_allowed),   CHECK_CASE(a_statement_begins_anew),
    CHECK_CASE(count_adds_weights_of_rows_that_have_one), CHECK_CASE(numbers_of_rows_are_for_those_who_name_them),
    CHECK_CASE(all_kinds_of_statements_are_right),
};

CHECK_MAIN(cases)
