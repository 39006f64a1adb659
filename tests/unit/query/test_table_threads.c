/* SPDX-License-Identifier: MIT */
#include "query/query_table.h"

#include "support/check.h"
#include "support/query_lab.h"

static void threads_have_what_the_manifest_says(void)
{
    query_lab_begin();
    CHECK_TEXT(query_lab_ask("select * from threads"), "0|200|200|main|1|1|0|0|3|77\n1|200|201|helper|1|1|64|0|0|0\n");
    query_lab_end();
}

static void they_can_be_chosen(void)
{
    query_lab_begin();
    CHECK_TEXT(query_lab_ask(
                   "select tid from threads where thread = 'helper'; select tid from threads where tid < 201; select "
                   "count(*) from threads where pid = 1; select tid from threads where thread_id = 1"),
               "201\n200\n0\n201\n");
    query_lab_end();
}

static const struct check_case cases[] = {
    CHECK_CASE(threads_have_what_the_manifest_says),
    CHECK_CASE(they_can_be_chosen),
};

CHECK_MAIN(cases)
