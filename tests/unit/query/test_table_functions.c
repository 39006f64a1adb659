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

static void sums_are_of_all_calls(void)
{
    begin();
    CHECK_TEXT(ask("select * from functions order by address, module"),
               "other+0x0|other|-|-|200|2|100|100|0|50|100\nshop+0x0|shop|-|-|200|1|500|350|500|500|500\nshop+0x100|"
               "shop|-|-|200|3|160|160|10|53|100\n");
    end();
}

static void calls_alone_are_the_same(void)
{
    begin();
    CHECK_TEXT(ask("select function, calls from functions order by 1"), "other+0x0|2\nshop+0x0|1\nshop+0x100|3\n");
    CHECK_TEXT(ask("select calls from functions where function = 'shop+0x100'; select sum(calls), sum(self_ns) from "
                   "functions"),
               "3\n6|610\n");
    end();
}

static void they_can_be_chosen_and_joined(void)
{
    begin();
    CHECK_TEXT(ask("select function from functions where module = 'other' and pid = 200"), "other+0x0\n");
    CHECK_TEXT(ask("select f.calls, count(*) from functions f join calls c on c.function_id = f.function_id group by 1 "
                   "order by 1"),
               "1|1\n2|2\n3|3\n");
    CHECK_TEXT(ask("select function from functions where pid = 3"), "");
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(sums_are_of_all_calls),
    CHECK_CASE(calls_alone_are_the_same),
    CHECK_CASE(they_can_be_chosen_and_joined),
};

CHECK_MAIN(cases)
