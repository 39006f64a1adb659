/* SPDX-License-Identifier: MIT */
#include "support/query_lab.h"

#include <stdio.h>
#include <stdlib.h>

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

void query_lab_init(struct query_lab *lab)
{
    trace_folder_init(&lab->folder);
    query_text_put_hooked(&lab->folder);
    if (view_trace_open(&lab->trace, lab->folder.path, NULL) == 0 &&
        query_source_init(&lab->source, &lab->trace, NULL) == 0)
        return;
    puts("the trace to ask cannot be opened");
    exit(1);
}

void query_lab_deinit(struct query_lab *lab)
{
    query_source_deinit(&lab->source);
    view_trace_close(&lab->trace);
    trace_folder_deinit(&lab->folder);
}
