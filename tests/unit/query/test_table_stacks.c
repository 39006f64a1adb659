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

static void callers_are_an_array(void)
{
    begin();
    query_text_put_details(&folder);
    CHECK_TEXT(ask("select function, tid, time_ns, caller, callers, caller_count, goes_on from stacks"),
               "shop+0x100|200|1110|shop+0x5|[\"shop+0x5\",\"0x999\"]|2|1\n");
    CHECK_TEXT(ask("select value from stacks, json_each(callers) where function like 'shop%'"), "shop+0x5\n0x999\n");
    CHECK_TEXT(ask("select count(*) from stacks where function = 'x' or tid = 3"), "0\n");
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(callers_are_an_array),
};

CHECK_MAIN(cases)
