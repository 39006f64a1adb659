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

static void processes_have_an_end_and_losses(void)
{
    begin();
    CHECK_TEXT(ask("select * from processes"), "200|1|-|shop --open|3|-|100|0|4|0|0\n");
    CHECK_TEXT(ask("select count(*) from processes where pid = 7"), "0\n");
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(processes_have_an_end_and_losses),
};

CHECK_MAIN(cases)
