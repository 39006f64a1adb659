/* SPDX-License-Identifier: MIT */
#include "query/query_table.h"

#include "support/check.h"
#include "support/query_lab.h"

static void each_event_is_a_row(void)
{
    query_lab_begin();
    CHECK_TEXT(
        query_lab_ask("select function, tid, kind, time_ns, is_guessed, depth, is_unwound from events where tid = 201"),
        "shop+0x100|201|enter|2000|0|0|0\nshop+0x100|201|leave|2010|0|0|1\nother+0x0|201|enter|5000|0|0|"
        "0\nother+0x0|201|enter|5100|0|1|0\n");
    query_lab_end();
}

static void conditions_leave_out_what_sqlite_would(void)
{
    query_lab_begin();
    CHECK_TEXT(query_lab_ask("select time_ns from events where kind = 'leave' and time_ns > 1150"),
               "1300\n1500\n2010\n");
    CHECK_TEXT(query_lab_ask("select time_ns from events where function like 'other%' and time_ns < 5100"), "5000\n");
    CHECK_TEXT(query_lab_ask("select count(*) from events; select count(*) from events where kind glob 'e*'"),
               "10\n6\n");
    CHECK_TEXT(query_lab_ask("select count(*) from events where kind = 'block' or time_ns < 0"), "0\n");
    CHECK_TEXT(
        query_lab_ask("select number, time_ns from events where tid = 200 and kind = 'leave' and time_ns > 1150"),
        "5|1300\n6|1500\n");
    query_lab_end();
}

static void calls_tell_where_they_go(void)
{
    query_lab_begin();
    trace_folder_deinit(&query_lab_folder);
    trace_folder_init(&query_lab_folder);
    trace_folder_put_example(&query_lab_folder);
    CHECK_TEXT(query_lab_ask("select function, kind, depth, target_function, target from events limit 2"),
               "example+0x1003|call|0|example+0x1100|4198656\nexample+0x1103|ret|1|example+0x1008|4198408\n");
    query_lab_end();
}

static const struct check_case cases[] = {
    CHECK_CASE(each_event_is_a_row),
    CHECK_CASE(conditions_leave_out_what_sqlite_would),
    CHECK_CASE(calls_tell_where_they_go),
};

CHECK_MAIN(cases)
