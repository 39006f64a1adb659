/* SPDX-License-Identifier: MIT */
#include "query/query_table.h"

#include "support/check.h"
#include "support/query_lab.h"

static void sums_are_of_all_calls(void)
{
    query_lab_begin();
    CHECK_TEXT(
        query_lab_ask("select * from functions order by address, module"),
        "other+0x0|other|-|-|200|2|100|100|0|50|100|8589934592|4198400\nshop+0x0|shop|-|-|200|1|500|350|500|500|500|"
        "4294967296|4198400\nshop+0x100|shop|-|-|200|3|160|160|10|53|100|4294967552|4198656\n");
    query_lab_end();
}

static void calls_alone_are_the_same(void)
{
    query_lab_begin();
    CHECK_TEXT(query_lab_ask("select function, calls from functions order by 1"),
               "other+0x0|2\nshop+0x0|1\nshop+0x100|3\n");
    CHECK_TEXT(
        query_lab_ask("select calls from functions where function = 'shop+0x100'; select sum(calls), sum(self_ns) from "
                      "functions"),
        "3\n6|610\n");
    query_lab_end();
}

static void they_can_be_chosen_and_joined(void)
{
    query_lab_begin();
    CHECK_TEXT(query_lab_ask("select function from functions where module = 'other' and pid = 200"), "other+0x0\n");
    CHECK_TEXT(query_lab_ask(
                   "select f.calls, count(*) from functions f join calls c on c.function_id = f.function_id group by 1 "
                   "order by 1"),
               "1|1\n2|2\n3|3\n");
    CHECK_TEXT(query_lab_ask("select function from functions where pid = 3"), "");
    query_lab_end();
}

static const struct check_case cases[] = {
    CHECK_CASE(sums_are_of_all_calls),
    CHECK_CASE(calls_alone_are_the_same),
    CHECK_CASE(they_can_be_chosen_and_joined),
};

CHECK_MAIN(cases)
