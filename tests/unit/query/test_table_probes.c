/* SPDX-License-Identifier: MIT */
#include "query/query_table.h"

#include "support/check.h"
#include "support/probe_trace.h"
#include "support/query_text.h"

static struct trace_folder folder;

static const char *ask(const char *sql)
{
    return query_text(folder.path, sql);
}

static void each_time_is_a_row(void)
{
    trace_folder_init(&folder);
    query_text_put_hooked(&folder);
    CHECK_TEXT(ask("select count(*) from probes"), "0\n");
    probe_trace_put(&folder, 200, 0x1100);
    CHECK_TEXT(ask("select provider, name, time_ns, arguments, arg0, arg1, tid from probes order by time_ns"),
               "shop|order|1000|-7, \"tea\"|-7|tea|200\n"
               "shop|idle|2000|-|-|-|200\n"
               "shop|order|3000|8, \"milk\"|8|milk|200\n"
               "-|-|4000|-|-|-|200\n");
    CHECK_TEXT(ask("select name, count(*), sum(arg0) from probes where provider = 'shop' group by name"),
               "idle|1|-\norder|2|1\n");
    CHECK_TEXT(ask("select count(*) from probes where tid = 3"), "0\n");
    CHECK_TEXT(ask("select count(*) from details"), "0\n");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(each_time_is_a_row),
};

CHECK_MAIN(cases)
