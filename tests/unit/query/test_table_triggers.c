/* SPDX-License-Identifier: MIT */
#include "query/query_table.h"

#include "support/check.h"
#include "support/query_lab.h"

static void triggers_have_a_time(void)
{
    query_lab_begin();
    CHECK_TEXT(query_lab_ask("select * from triggers"), "manual|now|1250|200|-\n");
    query_lab_end();
}

static const struct check_case cases[] = {
    CHECK_CASE(triggers_have_a_time),
};

CHECK_MAIN(cases)
