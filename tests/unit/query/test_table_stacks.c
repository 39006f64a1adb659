/* SPDX-License-Identifier: MIT */
#include "query/query_table.h"

#include "support/check.h"
#include "support/query_lab.h"

static void callers_are_an_array(void)
{
    query_lab_begin();
    query_text_put_details(&query_lab_folder);
    CHECK_TEXT(query_lab_ask("select function, tid, time_ns, caller, callers, caller_count, goes_on from stacks"),
               "shop+0x100|200|1110|shop+0x5|[\"shop+0x5\",\"0x999\"]|2|1\n");
    CHECK_TEXT(query_lab_ask("select value from stacks, json_each(callers) where function like 'shop%'"),
               "shop+0x5\n0x999\n");
    CHECK_TEXT(query_lab_ask("select count(*) from stacks where function = 'x' or tid = 3"), "0\n");
    query_lab_end();
}

static const struct check_case cases[] = {
    CHECK_CASE(callers_are_an_array),
};

CHECK_MAIN(cases)
