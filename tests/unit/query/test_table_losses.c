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

static void processes_tell_what_they_could_not(void)
{
    begin();
    CHECK_TEXT(ask("select * from losses"), "lost|200|-|-|-|36|-\nno room|200|-|-|-|-|4\n");
    end();
}

static void places_are_told_in_events(void)
{
    begin();
    trace_folder_deinit(&folder);
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_TEXT(ask("select * from losses"), "lost|100|101|worker|1050|72|-\nlost|100|101|worker|1150|72|-\nlost|100|"
                                            "101|worker|1250|72|-\nlost|100|101|worker|1350|72|-\n");
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(processes_tell_what_they_could_not),
    CHECK_CASE(places_are_told_in_events),
};

CHECK_MAIN(cases)
