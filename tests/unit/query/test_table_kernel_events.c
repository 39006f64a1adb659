/* SPDX-License-Identifier: MIT */
#include "query/query_table.h"

#include "support/check.h"
#include "support/kernel_trace.h"
#include "support/query_text.h"

static struct trace_folder folder;

static void events_have_fields_and_stacks(void)
{
    trace_folder_init(&folder);
    query_text_put_hooked(&folder);
    CHECK_TEXT(query_text(folder.path, "select count(*) from kernel_events"), "0\n");
    kernel_trace_put_example(&folder);
    CHECK_TEXT(query_text(folder.path, "select name, pid, tid, thread, cpu, fields, stack, spec from kernel_events"),
               "tick|100|100|early|0|{\"number\": -7, \"text\": \"word\"}|ticking|tracepoint:clock:tick\n"
               "tock|100|100|early|1|{}|-|tracepoint:clock:tock\n"
               "tick|100|100|late|0|{\"number\": 8, \"text\": \"word\"}|-|tracepoint:clock:tick\n"
               "tick|100|100|late|1|{\"number\": 9, \"text\": \"word\"}|0x9999|tracepoint:clock:tick\n");
    CHECK_TEXT(query_text(folder.path, "select sum(json_extract(fields, '$.number')) from kernel_events"), "10\n");
    CHECK_TEXT(query_text(folder.path, "select min(time_ns) < max(time_ns) from kernel_events"), "1\n");
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(events_have_fields_and_stacks),
};

CHECK_MAIN(cases)
