/* SPDX-License-Identifier: MIT */
#include "query/query_table.h"

#include "support/check.h"
#include "support/query_lab.h"

static void modules_come_and_go(void)
{
    query_lab_begin();
    CHECK_TEXT(query_lab_ask("select * from modules"),
               "shop|/nowhere/shop|200|1|0|4000|4198400|4202496|0|ab00\nother|/nowhere/"
               "other|200|1|4000|-|4198400|4202496|0|-\n");
    CHECK_TEXT(query_lab_ask(
                   "select path from modules where module glob 'o*' and pid = 200; select count(*) from modules where "
                   "pid = 1"),
               "/nowhere/other\n0\n");
    query_lab_end();
}

static const struct check_case cases[] = {
    CHECK_CASE(modules_come_and_go),
};

CHECK_MAIN(cases)
