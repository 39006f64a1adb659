/* SPDX-License-Identifier: MIT */
#include "query/query_table.h"

#include "support/check.h"
#include "support/query_text.h"

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

static void modules_come_and_go(void)
{
    begin();
    CHECK_TEXT(ask("select * from modules"), "shop|/nowhere/shop|200|1|0|4000|4198400|4202496|0|ab00\nother|/nowhere/"
                                             "other|200|1|4000|-|4198400|4202496|0|-\n");
    CHECK_TEXT(ask("select path from modules where module glob 'o*' and pid = 200; select count(*) from modules where "
                   "pid = 1"),
               "/nowhere/other\n0\n");
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(modules_come_and_go),
};

CHECK_MAIN(cases)
