/* SPDX-License-Identifier: MIT */
#include "support/query_lab.h"

struct trace_folder query_lab_folder;

void query_lab_begin(void)
{
    trace_folder_init(&query_lab_folder);
    query_text_put_hooked(&query_lab_folder);
}

void query_lab_end(void)
{
    trace_folder_deinit(&query_lab_folder);
}

const char *query_lab_ask(const char *sql)
{
    return query_text(query_lab_folder.path, sql);
}
