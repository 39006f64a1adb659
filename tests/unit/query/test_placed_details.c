/* SPDX-License-Identifier: MIT */
#include "query/placed_details.h"

#include "support/check.h"
#include "support/probe_trace.h"
#include "support/query_text.h"

static struct trace_folder folder;

static const char *ask(const char *sql)
{
    return query_text(folder.path, sql);
}

static void rows_are_of_one_kind_and_meet_conditions_on_places(void)
{
    trace_folder_init(&folder);
    query_text_put_hooked(&folder);
    probe_trace_put(&folder, 200, 0x1100);
    CHECK_TEXT(ask("select count(*) from probes"), "4\n");
    CHECK_TEXT(ask("select count(*) from stacks"), "0\n");
    /* Of a thread and of functions, met or not while records are read. */
    CHECK_TEXT(ask("select count(*) from probes where tid = 200"), "4\n");
    CHECK_TEXT(ask("select count(*) from probes where tid = 201"), "0\n");
    CHECK_TEXT(ask("select count(distinct function) from probes"), "3\n");
    CHECK_TEXT(ask("select count(*) from probes where function = (select function from probes where name = 'idle')"),
               "1\n");
    CHECK_TEXT(ask("select count(*) from probes where function = 'nothing'"), "0\n");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(rows_are_of_one_kind_and_meet_conditions_on_places),
};

CHECK_MAIN(cases)
