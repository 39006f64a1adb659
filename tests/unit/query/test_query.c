/* SPDX-License-Identifier: MIT */
#include "query/query.h"

#include <stdlib.h>

#include "support/check.h"
#include "support/query_text.h"
#include "view/view_trace.h"

static struct trace_folder folder;

static const char *ask(const char *sql)
{
    return query_text(folder.path, sql);
}

static void begin(void)
{
    trace_folder_init(&folder);
    query_text_put_hooked(&folder);
}

static void end(void)
{
    trace_folder_deinit(&folder);
}

static int begin_rows(void *context, const char *const *names, size_t count)
{
    CHECK_EQUAL(count, 1);
    CHECK_TEXT(names[0], "tid");
    *(unsigned *)context = 1;
    return 0;
}

static int take_row(void *context, const struct query_value *values, size_t count)
{
    (void)values;
    (void)count;
    return ++*(unsigned *)context == 3 ? 5 : 0;
}

static int end_rows(void *context)
{
    *(unsigned *)context = 100;
    return 0;
}

static void enough(void)
{
    unsigned count = 0;
    const struct query_receiver receiver = {begin_rows, take_row, end_rows, &count};
    struct view_trace trace;

    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(query_run(&trace, "select tid from calls", &receiver, NULL), 5);
    CHECK_EQUAL(count, 3);
    view_trace_close(&trace);
}

static void statements_run_one_after_the_other(void)
{
    begin();
    CHECK_TEXT(ask("select 1; -- nothing\n; select 'a', null, 2.5, x'41';"), "1\na|-|2.5|A\n");
    CHECK_TEXT(ask(""), "");
    end();
}

static void what_sqlite_says_is_said(void)
{
    begin();
    CHECK(strstr(ask("select 1; select x from calls"), "1\n! cannot run the query: no such column: x") != NULL);
    CHECK(strstr(ask("select"), "incomplete input") != NULL);
    CHECK(strstr(ask("select abs(-9223372036854775808)"), "integer overflow") != NULL);
    end();
}

static void nothing_can_be_changed(void)
{
    static const char *const forbidden[] = {
        "create table a(b)",
        "create temp table a(b)",
        "create temp view v as select 1",
        "attach '/tmp/x' as y",
        "pragma user_version = 1",
        "insert into calls values (1)",
        "delete from calls",
        "vacuum into '/tmp/x'",
        "drop table calls",
        "begin",
        "select load_extension('x')",
        "update calls set pid = 1",
        "pragma temp_store = 2",
        "create virtual table a using calls",
    };

    begin();
    for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++)
        if (strncmp(ask(forbidden[i]), "! ", 2) != 0) {
            printf("allowed: %s\n", forbidden[i]);
            CHECK(false);
        }
    CHECK(strncmp(ask("select name from pragma_table_info('triggers')"), "kind\ntext\n", 10) == 0);
    end();
}

static void what_cannot_be_read_is_said_behind_the_rest(void)
{
    size_t size;
    uint8_t *bytes;

    begin();
    bytes = trace_folder_read(&folder, "200/200.1.index.gait", &size);
    trace_folder_write(&folder, "200/200.1.index.gait", bytes, size - 8);
    free(bytes);
    CHECK(strstr(ask("select count(*) from calls"), "6\n! cannot read all of '200/200.1.index.gait': it is cut off") !=
          NULL);
    CHECK(strstr(ask("select count(depth) from calls"), "6\n! cannot read all of") != NULL);
    CHECK(strstr(ask("select sum(calls), max(max_ns) from functions"), "6|500\n! cannot read all of") != NULL);
    CHECK(strstr(ask("select count(*) from events"), "10\n! cannot read all of") != NULL);
    CHECK(strstr(ask("select count(*) from losses"), "2\n! cannot read all of") != NULL);
    CHECK_TEXT(ask("select count(*) from threads"), "2\n");
    trace_folder_write(&folder, "200/200.1.index.gait", "?", 1);
    CHECK(strstr(ask("select count(*) from calls"), "3\n! cannot read '200/200.1.index.gait'") != NULL);
    end();
}

static void who_has_enough_gets_no_more(void)
{
    begin();
    CHECK_TEXT(ask("select 1"), "1\n");
    enough();
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(statements_run_one_after_the_other),
    CHECK_CASE(what_sqlite_says_is_said),
    CHECK_CASE(nothing_can_be_changed),
    CHECK_CASE(what_cannot_be_read_is_said_behind_the_rest),
    CHECK_CASE(who_has_enough_gets_no_more),
};

CHECK_MAIN(cases)
