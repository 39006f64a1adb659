/* SPDX-License-Identifier: MIT */
#include "query/query_table.h"

#include "support/check.h"
#include "support/query_text.h"
#include "support/told_system_calls.h"

static void a_row_for_each_call(void)
{
    struct trace_folder folder;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    told_system_calls_put(&folder);
    CHECK_TEXT(query_text(folder.path, "select name, pid, tid, result, error, number from syscalls"),
               "openat|100|101|-2|2|257\n"
               "write|100|101|2|-|1\n"
               "execve|100|101|-13|13|59\n"
               "getppid|100|101|42|-|110\n"
               "execve|100|101|-|-|59\n");
    CHECK_TEXT(query_text(folder.path, "select count(*) from syscalls where text like 'openat(%/no%'"), "1\n");
    CHECK_TEXT(query_text(folder.path, "select argument_1, duration_ns is null from syscalls where name = 'write'"),
               "32768|0\n");
    /* They are no calls of functions that were looked at. */
    CHECK_TEXT(query_text(folder.path, "select count(*) from details"), "0\n");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_row_for_each_call),
};

CHECK_MAIN(cases)
