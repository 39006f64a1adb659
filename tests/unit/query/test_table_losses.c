/* SPDX-License-Identifier: MIT */
#include "query/query_table.h"

#include "support/check.h"
#include "support/query_lab.h"

static void processes_tell_what_they_could_not(void)
{
    query_lab_begin();
    CHECK_TEXT(query_lab_ask("select * from losses"), "lost|200|-|-|-|36|-\nno room|200|-|-|-|-|4\n");
    query_lab_end();
}

static void places_are_told_in_events(void)
{
    query_lab_begin();
    trace_folder_deinit(&query_lab_folder);
    trace_folder_init(&query_lab_folder);
    trace_folder_put_example(&query_lab_folder);
    CHECK_TEXT(query_lab_ask("select * from losses"),
               "lost|100|101|worker|1050|72|-\nlost|100|101|worker|1150|72|-\nlost|100|"
               "101|worker|1250|72|-\nlost|100|101|worker|1350|72|-\n");
    query_lab_end();
}

static const struct check_case cases[] = {
    CHECK_CASE(processes_tell_what_they_could_not),
    CHECK_CASE(places_are_told_in_events),
};

CHECK_MAIN(cases)
