/* SPDX-License-Identifier: MIT */
/* Rows that were counted must be those that are read one by one: both are asked for. */
#include "query/query_table.h"

#include "support/check.h"
#include "support/query_lab.h"

static void each_call_is_a_row_when_it_ends(void)
{
    query_lab_begin();
    CHECK_TEXT(query_lab_ask("select * from calls"),
               "shop+0x100|shop|-|-|200|200|main|4294967552|0|4198656|1|1100|50|50|shop+0x0|-|1150\n"
               "shop+0x100|shop|-|-|200|200|main|4294967552|0|4198656|1|1200|100|100|shop+0x0|-|1300\n"
               "shop+0x0|shop|-|-|200|200|main|4294967296|0|4198400|0|1000|500|350|-|-|1500\n"
               "shop+0x100|shop|-|-|200|201|helper|4294967552|1|4198656|0|2000|10|10|-|unwound|2010\n"
               "other+0x0|other|-|-|200|201|helper|8589934592|1|4198400|1|5100|0|0|other+0x0|cut|5100\n"
               "other+0x0|other|-|-|200|201|helper|8589934592|1|4198400|0|5000|100|100|-|cut|5100\n");
    CHECK_TEXT(query_lab_ask("select start_ns, end_ns, thread_id, address from calls where depth = 0"),
               "1000|1500|0|4198400\n2000|2010|1|4198656\n5000|5100|1|4198400\n");
    query_lab_end();
}

static void conditions_leave_out_what_sqlite_would(void)
{
    query_lab_begin();
    CHECK_TEXT(query_lab_ask("select start_ns from calls where tid = 201 and duration_ns > 5"), "2000\n5000\n");
    CHECK_TEXT(query_lab_ask("select start_ns from calls where thread like 'HELP%' and function glob 'shop*'"),
               "2000\n");
    CHECK_TEXT(query_lab_ask("select start_ns from calls where function = 'shop+0x100'"), "1100\n1200\n2000\n");
    CHECK_TEXT(
        query_lab_ask("select start_ns from calls where function in ('other+0x0', 'shop+0x0') and thread_id in (0, 7)"),
        "1000\n");
    CHECK_TEXT(query_lab_ask("select start_ns from calls where module = 'other' and depth >= 1"), "5100\n");
    CHECK_TEXT(query_lab_ask("select start_ns from calls where pid = 1 or pid = '200' and depth = 1.0"),
               "1100\n1200\n5100\n");
    CHECK_TEXT(query_lab_ask("select start_ns from calls where tid = 'x'"), "");
    CHECK_TEXT(query_lab_ask("select start_ns from calls where function = null or function > 'shop+0x0'"),
               "1100\n1200\n2000\n");
    query_lab_end();
}

static void times_may_be_ranges_of_any_kind(void)
{
    query_lab_begin();
    CHECK_TEXT(query_lab_ask("select start_ns from calls where start_ns between 1100 and 1200"), "1100\n1200\n");
    CHECK_TEXT(query_lab_ask("select start_ns from calls where start_ns > 1100 and start_ns < 2000.5"), "1200\n2000\n");
    CHECK_TEXT(query_lab_ask("select start_ns from calls where start_ns >= 1199.5 and start_ns <= 1e4 and tid = 200"),
               "1200\n");
    CHECK_TEXT(query_lab_ask("select start_ns from calls where start_ns < 0"), "");
    CHECK_TEXT(query_lab_ask("select start_ns from calls where start_ns > 99999999999999999"), "");
    CHECK_TEXT(query_lab_ask("select start_ns from calls where start_ns <= 1000"), "1000\n");
    CHECK_TEXT(query_lab_ask("select count(*) from calls where start_ns between -5 and 9223372036854775807"), "6\n");
    query_lab_end();
}

static void what_was_before_a_range_is_not_needed_but_for_depths_and_callers(void)
{
    query_lab_begin();
    CHECK_TEXT(query_lab_ask(
                   "select start_ns, duration_ns, self_ns, function from calls where start_ns >= 1200 and tid = 200"),
               "1200|100|100|shop+0x100\n");
    CHECK_TEXT(
        query_lab_ask(
            "select start_ns, duration_ns, self_ns, depth, caller from calls where start_ns >= 1200 and tid = 200"),
        "1200|100|100|1|shop+0x0\n");
    CHECK_TEXT(query_lab_ask(
                   "select time_ns, kind from events where time_ns >= 1200 and tid = 200; select time_ns, depth from "
                   "events where time_ns > 1300 and tid = 200"),
               "1200|enter\n1300|leave\n1500|leave\n1500|0\n");
    query_lab_end();
}

static void rows_that_are_alike_are_counted(void)
{
    query_lab_begin();
    CHECK_TEXT(query_lab_ask("select function, count(*) from calls group by 1"),
               "other+0x0|2\nshop+0x0|1\nshop+0x100|3\n");
    CHECK_TEXT(query_lab_ask("select function, count(duration_ns) from calls group by 1"),
               "other+0x0|2\nshop+0x0|1\nshop+0x100|3\n");
    CHECK_TEXT(query_lab_ask("select count(*) from calls; select count(*) from calls where tid = 201"), "6\n3\n");
    CHECK_TEXT(
        query_lab_ask("select tid, function, count(*) from calls where module <> 'other' group by tid, function"),
        "200|shop+0x0|1\n200|shop+0x100|2\n201|shop+0x100|1\n");
    CHECK_TEXT(query_lab_ask("select distinct thread, module from calls order by thread desc, module"),
               "main|shop\nhelper|other\nhelper|shop\n");
    CHECK_TEXT(query_lab_ask("select function from calls order by function desc limit 4"),
               "shop+0x100\nshop+0x100\nshop+0x100\nshop+0x0\n");
    CHECK_TEXT(query_lab_ask("select function from calls limit 1"), "shop+0x100\n");
    CHECK_TEXT(query_lab_ask("select count(*) from calls where function = 'shop+0x100' and tid = 200"), "2\n");
    CHECK_TEXT(query_lab_ask("select count(distinct function), count(distinct file) from calls"), "3|0\n");
    query_lab_end();
}

static void calls_can_be_joined_with_calls(void)
{
    query_lab_begin();
    CHECK_TEXT(query_lab_ask(
                   "select a.function, count(*) from calls a join calls b on b.thread_id = a.thread_id and b.start_ns "
                   "> a.start_ns and b.end_ns <= a.end_ns group by 1"),
               "other+0x0|1\nshop+0x0|2\n");
    CHECK_TEXT(
        query_lab_ask(
            "select t.thread, count(*) from threads t join calls c on c.thread_id = t.thread_id group by 1 order by 1"),
        "helper|3\nmain|3\n");
    query_lab_end();
}

static const struct check_case cases[] = {
    CHECK_CASE(each_call_is_a_row_when_it_ends),
    CHECK_CASE(conditions_leave_out_what_sqlite_would),
    CHECK_CASE(times_may_be_ranges_of_any_kind),
    CHECK_CASE(what_was_before_a_range_is_not_needed_but_for_depths_and_callers),
    CHECK_CASE(rows_that_are_alike_are_counted),
    CHECK_CASE(calls_can_be_joined_with_calls),
};

CHECK_MAIN(cases)
