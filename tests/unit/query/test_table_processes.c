/* SPDX-License-Identifier: MIT */
#include "query/query_table.h"

#include "support/check.h"
#include "support/query_lab.h"

static void processes_have_an_end_and_losses(void)
{
    query_lab_begin();
    CHECK_TEXT(query_lab_ask("select * from processes"), "200|1|-|shop --open|3|-|100|0|4|0|0\n");
    CHECK_TEXT(query_lab_ask("select count(*) from processes where pid = 7"), "0\n");
    query_lab_end();
}

static const struct check_case cases[] = {
    CHECK_CASE(processes_have_an_end_and_losses),
};

CHECK_MAIN(cases)
